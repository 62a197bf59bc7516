import { factsOf, type FileFormat } from '../../../readers/index.js';
import { MAX_TOKEN_LENGTH } from '../../../shared/text/token-count.js';
import type { ChunkOptions } from '../../chunking/chunk.js';

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
