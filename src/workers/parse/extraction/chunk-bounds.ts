// Bounds of the data that chunks hold beside their own text. Parsers make no more, and the messages of their processes are
// checked against it.

/** Most rectangles of a location; more say no more than the pages do. */
export const MAX_BOXES = 32;
/** Most headings over a chunk, and most characters of each. */
export const MAX_HEADINGS = 8;
export const MAX_HEADING_CHARACTERS = 200;
/** Most characters of the rows that name the columns of a table; longer ones are not repeated. */
export const MAX_HEADER_CHARACTERS = 2_000;
