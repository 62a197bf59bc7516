import { IngestError } from '../../shared/errors.js';
import { countFittingText } from '../../shared/text/token-count.js';
import { findFittingCut } from './choose-cut.js';
import { overlapStart } from './overlap.js';
import { windowFrom, type Window } from './token-window.js';

export interface Chunk {
  readonly text: string;
  /** Tokens of `text` in cl100k_base. */
  readonly tokenCount: number;
  /** UTF-16 units at the start of `text` that repeat the chunk before. All `text.slice(overlap)` joined are the document. */
  readonly overlap: number;
}

export interface ChunkOptions {
  /** The maximum number of tokens in a chunk. */
  readonly size: number;
  /** The maximum number of tokens that a chunk repeats from the one before. */
  readonly overlap: number;
  /** Most chunks; more throw the IngestError `too_large`. */
  readonly maxChunks?: number | undefined;
}

/**
 * Cuts `text`, trimmed at both ends, into chunks of at most `size` tokens: after a paragraph if that fills at least half a
 * chunk, else after a sentence, line, clause or word. Only white space that is too long for any chunk is left out.
 */
export function chunkText(text: string, options: ChunkOptions): Chunk[] {
  const whole = text.trimEnd();
  const end = whole.length;
  if (end === 0) return [];
  let start = text.length - text.trimStart().length;
  const tokenCount = countFittingText(whole, start, options.size);
  if (tokenCount !== null) return [{ text: whole.slice(start), tokenCount, overlap: 0 }];
  const chunks: Chunk[] = [];
  let freshFrom = start;
  let window: Window = { borders: [start], counts: [] };
  while (freshFrom < end) {
    const cut = findFittingCut(whole, window, freshFrom, options.size);
    if (!cut) {
      // The overlap leaves no space for new text, so this chunk begins without it.
      window = windowFrom(whole, window, freshFrom);
      start = freshFrom;
      continue;
    }
    if (text.slice(freshFrom, cut.position).trim() !== '') {
      if (chunks.length === (options.maxChunks ?? Infinity))
        throw new IngestError('too_large', `The document has more than ${String(chunks.length)} chunks.`);
      chunks.push({
        text: text.slice(start, cut.position),
        tokenCount: cut.tokenCount,
        overlap: freshFrom - start,
      });
      start =
        cut.position < end
          ? overlapStart(whole, window, { cut: cut.position, overlap: options.overlap })
          : end;
    } else start = cut.position;
    freshFrom = cut.position;
    window = windowFrom(whole, window, start);
  }
  return chunks;
}
