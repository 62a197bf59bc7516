/**
 * How long servers keep a connection between two requests: longer than balancers do, most of which give it up after 60 s, and
 * than any process is busy. One that was busy when the time of a connection ended closes it although the next request has come
 * over it, which then fails without an answer. Node's own 5 s end while a model is loaded.
 */
export const KEEP_ALIVE_MILLISECONDS = 65_000;
