import { at } from '../../shared/at.js';
import { IngestError } from '../../shared/errors.js';
import { MAX_PIECE_LENGTH } from '../../shared/text/pre-tokenizer.js';
import {
  countFittingText,
  countTokens,
  countTokensExactly,
  mayBePart,
  countPieces,
} from '../../shared/text/token-count.js';
import { BORDER } from './borders.js';
import { headerAt, NO_LAYOUT, borderWithin, MIN_OUTSIDE, type Layout } from './layout.js';

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

/** @throws IngestError where there are as many chunks as there may be */
export function requireRoomForChunk(chunks: readonly Chunk[], { maxChunks = Infinity }: ChunkOptions): void {
  if (chunks.length >= maxChunks)
    throw new IngestError('too_large', `The document has more than ${String(chunks.length)} chunks.`);
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
  requireRoomForChunk(chunks, options);
  chunks.push({
    text: header.text + whole.slice(start, cut.position),
    tokenCount: header.tokens + cut.tokenCount,
    overlap: header.text.length + freshFrom - start,
    start,
    end: cut.position,
  });
  return true;
}

/** UTF-16 units that are counted as one run in a few milliseconds. */
const MAX_COUNTED_RUN = 2048;

/** A text with its layout. */
interface SourceText {
  readonly text: string;
  readonly layout: Layout;
}

interface Cut {
  readonly position: number;
  readonly tokenCount: number;
}

/**
 * Returns where the chunk should end so that it fits by tiktoken's count; undefined when the overlap leaves no space. White
 * space that fits no chunk is a cut of its own.
 */
function findFittingCut(
  source: SourceText,
  window: Window,
  freshFrom: number,
  size: number,
): Cut | undefined {
  const { text } = source;
  const total = fillWindow(text, window, size);
  const fresh = text.slice(freshFrom, window.borders.at(-1));
  const solidFrom = freshFrom + fresh.length - fresh.trimStart().length;
  if (tokensBetween(window, freshFrom, solidFrom) >= size) return { position: solidFrom, tokenCount: 0 };
  for (let limit = size; ;) {
    const cut =
      total <= limit
        ? { position: text.length, tokenCount: total }
        : findCut(source, window, { freshFrom, solidFrom, size: limit });
    if (!cut) return undefined;
    const { tokenCount, excess } = recount(text, window, { cut, size });
    if (excess <= 0 || limit <= 1) return { position: cut.position, tokenCount };
    limit = Math.max(1, limit - excess);
  }
}

/** Tokens of the pieces that lie between two positions as a whole. */
function tokensBetween({ borders, counts }: Window, start: number, end: number): number {
  let tokens = 0;
  counts.forEach((count, i) => {
    if (at(borders, i) >= start && at(borders, i + 1) <= end) tokens += count;
  });
  return tokens;
}

/** Parts of a long run may form other tokens together than apart. They are counted again or, if that is slow, given some space. */
function recount(
  text: string,
  { borders }: Window,
  { cut, size }: { cut: Cut; size: number },
): { tokenCount: number; excess: number } {
  const parts = borders.filter((border, index) => {
    const next = borders[index + 1] ?? border;
    return border < cut.position && mayBePart(border, next);
  });
  if (parts.length === 0) return { tokenCount: cut.tokenCount, excess: cut.tokenCount - size };
  const isSlow = parts.length * MAX_PIECE_LENGTH > MAX_COUNTED_RUN;
  const tokenCount = isSlow ? cut.tokenCount : countTokensExactly(text.slice(borders[0], cut.position));
  return { tokenCount, excess: tokenCount + (isSlow ? parts.length : 0) - size };
}

/** Returns where the chunk should end: the last of the best borders after `freshFrom` that fit. */
function findCut(
  { text, layout }: SourceText,
  window: Window,
  { freshFrom, solidFrom, size }: { freshFrom: number; solidFrom: number; size: number },
): Cut | undefined {
  let sum = 0;
  const prefix = [0, ...window.counts.map((count) => (sum += count))];
  let last = prefix.length - 1;
  while (at(prefix, last) > size) last -= 1;
  let best: Cut | undefined;
  let bestValue = -1;
  for (let index = last; index > 0 && bestValue < BORDER.paragraph; index -= 1) {
    const before = at(prefix, index);
    // A border that fills less than half a chunk is never better than a border that fills more.
    if (bestValue >= MIN_OUTSIDE && before * 2 < size) break;
    const position = cutPosition(text, window, index);
    // It would end a chunk of white space.
    if (position <= solidFrom) break;
    const value = valueOf(borderWithin(layout, text, position), before / size);
    if (value <= bestValue) continue;
    const tokenCount = before + leadTokens(text, window, { index, position });
    if (tokenCount > size) continue;
    best = { position, tokenCount };
    bestValue = value;
  }
  if (best) return best;
  return at(window.borders, 0) < freshFrom ? undefined : cutInside(text, window, { size, solidFrom });
}

/** A border counts fully only if the chunk is filled enough. Better borders may leave more space. */
function valueOf(border: number, filled: number): number {
  if (border === BORDER.unfit) return 0;
  const enough = border >= BORDER.line ? 0.5 : 0.75;
  return filled >= enough ? border : border / 10;
}

/** Returns where to cut before piece `index`: after the blank or full stop that the tokenizer adds to the next word. */
function cutPosition(text: string, { borders }: Window, index: number): number {
  const position = at(borders, index);
  const next = borders[index + 1] ?? position;
  return next - position > 1 && leadsPiece(text, position) ? position + 1 : position;
}

/** Counts the tokens that a cut at `position` takes from piece `index`, alone or together with the blanks before it. */
function leadTokens(
  text: string,
  { borders, counts }: Window,
  { index, position }: { index: number; position: number },
): number {
  const border = at(borders, index);
  if (position === border) return 0;
  const lead = text.slice(border, position);
  const previous = text.slice(borders[index - 1], border);
  const merges = lead === ' ' && /^[^\S\r\n]+$/u.test(previous);
  return merges ? countTokens(previous + lead) - at(counts, index - 1) : countTokens(lead);
}

const WIDE_STOP = /^[。！？｡．…、，；：]/u;
const STAYS_WITH_STOP = /^[\s\p{Pe}\p{Pf}\p{M}。！？｡．…、，；：]/u;

function leadsPiece(text: string, position: number): boolean {
  const lead = text.charCodeAt(position);
  if (lead === 0x20) return !/^\s/u.test(text.charAt(position + 1));
  return (
    lead >= 0x2026 &&
    WIDE_STOP.test(text.charAt(position)) &&
    !STAYS_WITH_STOP.test(text.charAt(position + 1))
  );
}

/**
 * Cuts inside the window's first piece that is not white, as late as it fits: between letters as readers see them, or within
 * the first where that alone has more tokens than a chunk.
 */
function cutInside(
  text: string,
  { borders }: Window,
  { size, solidFrom }: { size: number; solidFrom: number },
): Cut {
  const start = at(borders, 0);
  const piece = text.slice(start, borders.find((border) => border > solidFrom) ?? at(borders, 1));
  const letters = Array.from(new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(piece));
  const whole = longestFit(piece, [...letters.slice(1).map(({ index }) => index), piece.length], size);
  const { length, tokenCount } =
    whole.tokenCount <= size ? whole : longestFit(piece, codePointEnds(piece, size), size);
  return { position: start + length, tokenCount };
}

/** The last of the ends before which the text has at most `size` tokens, or else the first. */
function longestFit(text: string, ends: readonly number[], size: number) {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (countTokens(text.slice(0, ends[middle])) <= size) low = middle;
    else high = middle - 1;
  }
  const length = at(ends, low);
  return { length, tokenCount: countTokens(text.slice(0, length)) };
}

/** Returns the ends of the first code points, each of which has at least a token. */
function codePointEnds(text: string, most: number): number[] {
  const ends: number[] = [];
  let end = 0;
  for (const point of text) {
    if (ends.length >= most) break;
    ends.push((end += point.length));
  }
  return ends;
}

const PIECES_AT_ONCE = 256;

/** Pieces of the text from the start of the chunk. Piece `i` is between `borders[i]` and `borders[i + 1]`. */
interface Window {
  borders: number[];
  counts: number[];
}

/** Counts pieces until the window holds more than `tokens` or the text ends. Returns the tokens in the window. */
function fillWindow(text: string, window: Window, tokens: number): number {
  let total = 0;
  for (const count of window.counts) total += count;
  const known: readonly number[] = window.borders;
  let last = known.at(-1) ?? text.length;
  while (last < text.length && total <= tokens) {
    const { ends, counts } = countPieces(text, last, PIECES_AT_ONCE);
    for (const border of ends) window.borders.push(border);
    for (const count of counts) {
      window.counts.push(count);
      total += count;
    }
    last = ends.at(-1) ?? text.length;
  }
  return total;
}

/** Returns the window from `start` on. The text is split again from there until a border is one of the known ones. */
function windowFrom(text: string, { borders, counts }: Window, start: number): Window {
  let index = borders.findIndex((border) => border >= start);
  if (index < 0) return { borders: [start], counts: [] };
  const newBorders = [start];
  const newCounts: number[] = [];
  let position = start;
  while (position !== borders[index]) {
    const { ends, counts: found } = countPieces(text, position, 1);
    position = at(ends, 0);
    newBorders.push(position);
    newCounts.push(at(found, 0));
    while (index < borders.length && at(borders, index) < position) index += 1;
    if (index >= borders.length) return { borders: newBorders, counts: newCounts };
  }
  return {
    borders: newBorders.concat(borders.slice(index + 1)),
    counts: newCounts.concat(counts.slice(index)),
  };
}

/** Returns where the next chunk starts: as many whole sentences before the cut as fit into `overlap` tokens, else lines or words. */
function overlapStart(
  { text, layout }: SourceText,
  window: Window,
  { cut, overlap }: { cut: number; overlap: number },
): number {
  let tokens = 0;
  let best = cut;
  let bestBorder: number = BORDER.character;
  for (let index = window.counts.length - 1; index > 0; index -= 1) {
    if (at(window.borders, index) >= cut) continue;
    tokens += at(window.counts, index);
    if (tokens > overlap) break;
    const position = cutPosition(text, window, index);
    if (position >= cut) continue;
    const found = Math.min(borderWithin(layout, text, position), BORDER.sentence);
    if (found >= bestBorder) {
      best = position;
      bestBorder = found;
    }
  }
  return best;
}
