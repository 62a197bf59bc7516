/**
 * The time for which servers keep a connection between two requests. It is longer than the time of balancers, most of which
 * give a connection up after 60 s, and longer than any process is busy. A process that was busy when the time of a
 * connection ended closes it although the next request has come over it, which then fails without an answer. Node's own 5 s
 * end while a model is loaded.
 */
export const KEEP_ALIVE_MILLISECONDS = 65_000;
