import { IngestError } from '../../shared/errors.js';
import { countFittingText, countTokens } from '../../shared/text/token-count.js';
import { findFittingCut, windowFrom, overlapStart, type Cut, type Window } from './choose-cut.js';
import { headerAt, NO_LAYOUT, type Layout } from './layout.js';

export interface Chunk {
  readonly text: string;
  /** Tokens of `text` in cl100k_base. */
  readonly tokenCount: number;
  /** UTF-16 units at the start of `text` that are repeated from before. All `text.slice(overlap)` joined are the document. */
  readonly overlap: number;
  /** The bounds of the chunk in the document, in UTF-16 units, without a header of a table that it repeats. */
  readonly start: number;
  readonly end: number;
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
 * chunk, else after a sentence, line, clause or word, and not within a row of a table unless the row is longer than a chunk.
 * A chunk that begins within a table repeats the table's header, if that leaves it half of its tokens. Only white space that
 * is too long for any chunk is left out.
 */
export function chunkText(text: string, options: ChunkOptions, layout: Layout = NO_LAYOUT): Chunk[] {
  const end = text.trimEnd().length;
  const begin = Math.min(end, text.length - text.trimStart().length);
  const borders = layout.parts.filter((position) => position > begin && position < end);
  const chunks: Chunk[] = [];
  let start = begin;
  for (const next of [...borders, end]) {
    // Positions count from the start of the document.
    chunkPart({ whole: text.slice(0, next), start, layout, options }, chunks);
    start = next;
  }
  return chunks;
}

interface Part {
  /** The document up to the end of the part. */
  readonly whole: string;
  readonly start: number;
  readonly layout: Layout;
  readonly options: ChunkOptions;
}

function chunkPart(part: Part, chunks: Chunk[]): void {
  const { whole, layout, options } = part;
  const end = whole.length;
  if (part.start === end) return;
  const tokenCount = countFittingText(whole, part.start, options.size);
  if (tokenCount !== null) {
    addChunk(
      part,
      chunks,
      { start: part.start, freshFrom: part.start, header: NO_HEADER },
      {
        position: end,
        tokenCount,
      },
    );
    return;
  }
  let start = part.start;
  let freshFrom = start;
  let window: Window = { borders: [start], counts: [] };
  while (freshFrom < end) {
    const header = headerOf(layout, start, options);
    const size = options.size - header.tokens;
    const cut = findFittingCut({ text: whole, layout }, window, freshFrom, size);
    if (!cut) {
      // The overlap leaves no space for new text, so this chunk begins without it.
      window = windowFrom(whole, window, freshFrom);
      start = freshFrom;
      continue;
    }
    const isAdded = addChunk(part, chunks, { start, freshFrom, header }, cut);
    const mayOverlap = isAdded && cut.position < end;
    start = mayOverlap
      ? overlapStart({ text: whole, layout }, window, { cut: cut.position, overlap: options.overlap })
      : cut.position;
    freshFrom = cut.position;
    window = windowFrom(whole, window, start);
  }
}

interface Header {
  readonly text: string;
  readonly tokens: number;
}
const NO_HEADER: Header = { text: '', tokens: 0 };

function headerOf(layout: Layout, start: number, { size }: ChunkOptions): Header {
  const text = headerAt(layout, start);
  const tokens = text === '' ? 0 : countTokens(text);
  return tokens * 2 > size ? NO_HEADER : { text, tokens };
}

interface Beginning {
  readonly start: number;
  /** The start of the text that the chunk before does not hold. */
  readonly freshFrom: number;
  readonly header: Header;
}

/** Leaves out a chunk that would only add white space. Returns whether it was added. */
function addChunk(
  { whole, options }: Part,
  chunks: Chunk[],
  { start, freshFrom, header }: Beginning,
  cut: Cut,
): boolean {
  if (whole.slice(freshFrom, cut.position).trim() === '') return false;
  if (chunks.length === (options.maxChunks ?? Infinity))
    throw new IngestError('too_large', `The document has more than ${String(chunks.length)} chunks.`);
  chunks.push({
    text: header.text + whole.slice(start, cut.position),
    tokenCount: header.tokens + cut.tokenCount,
    overlap: header.text.length + freshFrom - start,
    start,
    end: cut.position,
  });
  return true;
}
