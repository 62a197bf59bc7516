/** Parses a file into text in reading order, in pieces such as pages, rows or parts. */
export type Parser = (bytes: Uint8Array) => AsyncIterable<string> | Iterable<string>;
