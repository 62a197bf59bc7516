/** Text of a document in reading order, in pieces: of a page, a row, a part. */
export type Parser = (bytes: Uint8Array) => AsyncIterable<string> | Iterable<string>;
