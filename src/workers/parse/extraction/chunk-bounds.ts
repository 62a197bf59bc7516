import { locationSchema, factsOf, type Location, type FileFormat } from '../../../readers/index.js';
import { MAX_TOKEN_LENGTH } from '../../../shared/text/token-count.js';
import type { ChunkOptions } from '../../chunking/chunk.js';

// Bounds of the data that chunks hold beside their own text. Parsers make no more, and the messages of their processes are
// checked against it.

/** Most rectangles of a location; more say no more than the pages do. */
export const MAX_BOXES = 32;
/** Most headings over a chunk, and most characters of each. */
export const MAX_HEADINGS = 8;
export const MAX_HEADING_CHARACTERS = 200;
/** Most characters of the rows that name the columns of a table; longer ones are not repeated. */
export const MAX_HEADER_CHARACTERS = 2_000;

/** Most characters of the name of a sheet or chapter; `bounded-names` leaves less. */
const MAX_CHARACTERS = 1_000;

/** A location as parsers make it: its names and rectangles are few. */
export const boundedLocation = locationSchema
  .extend({
    boxes: locationSchema.shape.boxes.unwrap().max(MAX_BOXES).optional(),
    sheet: locationSchema.shape.sheet.unwrap().max(MAX_CHARACTERS).optional(),
    chapter: locationSchema.shape.chapter.unwrap().max(MAX_CHARACTERS).optional(),
  })
  .nullable();

/** Null for a location that is none. The places that a file states must not keep a text from being found. */
export const knownLocation = (location: Location | null): Location | null =>
  boundedLocation.safeParse(location).data ?? null;

/**
 * The maximum number of characters of text for each byte of the file. More would let a small file, such as a table whose
 * headings are repeated in each row, use up the memory.
 */
const MAX_TEXT_PER_BYTE = 8;
const TEXT_ALLOWANCE = 1024 * 1024;
const COMPRESSED_TEXT_ALLOWANCE = 64 * 1024 * 1024;

/** Returns the most characters of text that a file of this many bytes may hold. */
export function mostText(
  { format, chunk }: { readonly format: FileFormat; readonly chunk: ChunkOptions },
  bytes: number,
): number {
  const allowance = factsOf(format).isCompressed ? COMPRESSED_TEXT_ALLOWANCE : TEXT_ALLOWANCE;
  const ofChunks = (chunk.maxChunks ?? Infinity) * chunk.size * MAX_TOKEN_LENGTH;
  return Math.min(ofChunks, MAX_TEXT_PER_BYTE * bytes + allowance);
}
