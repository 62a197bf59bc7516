import { IngestError } from '../shared/errors.js';
import { LONGEST_PIECE } from '../shared/pre-tokenizer.js';
import { countPieces, countTokens, countTokensExactly, mayBePart } from '../shared/tokens.js';
import { BORDER, borderAt } from './chunk-borders.js';

export interface Chunk {
  readonly text: string;
  /** Tokens of `text` in cl100k_base. */
  readonly tokenCount: number;
  /** Leading UTF-16 units of `text` that repeat the end of the chunk before: `text.slice(overlap)` joined is the document. */
  readonly overlap: number;
}

export interface ChunkOptions {
  /** Most tokens in a chunk. */
  readonly size: number;
  /** Most tokens a chunk repeats from the one before. */
  readonly overlap: number;
  /** More chunks than this are an IngestError `too_large`. */
  readonly maxChunks?: number | undefined;
}

const PIECES_AT_ONCE = 256;
/** UTF-16 units that tiktoken encodes as one run in a few milliseconds. */
const LONGEST_COUNTED_RUN = 2048;

/** Pieces of the text from the chunk's start on: piece `i` lies between `borders[i]` and `borders[i + 1]`. */
interface Window {
  borders: number[];
  counts: number[];
}

interface Cut {
  readonly position: number;
  readonly tokenCount: number;
}

/**
 * Cuts `text`, trimmed at both ends, into chunks of at most `size` tokens: at paragraphs where that fills at least half
 * a chunk, else at sentences, lines, clauses, words. Only white space too long for any chunk is left out.
 */
export function chunkText(text: string, options: ChunkOptions): Chunk[] {
  const whole = text.trimEnd();
  const end = whole.length;
  const chunks: Chunk[] = [];
  let start = text.length - text.trimStart().length;
  let freshFrom = start;
  let window: Window = { borders: [start], counts: [] };
  while (freshFrom < end) {
    const cut = findFittingCut(whole, window, freshFrom, options.size);
    if (!cut) {
      // The overlap leaves no room for what follows it: begin without.
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

/** Counts pieces until the window holds more than `tokens` or the text ends; returns the tokens in it. */
function fill(text: string, window: Window, tokens: number): number {
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

/** Where the chunk should end so that it fits by tiktoken's own count; none where the overlap leaves no room. */
function findFittingCut(text: string, window: Window, freshFrom: number, size: number): Cut | undefined {
  const total = fill(text, window, size);
  for (let limit = size; ;) {
    const cut =
      total <= limit ? { position: text.length, tokenCount: total } : findCut(text, window, freshFrom, limit);
    if (!cut) return undefined;
    const { tokenCount, excess } = recount(text, window, { cut, size });
    if (excess <= 0 || limit <= 1) return { position: cut.position, tokenCount };
    limit = Math.max(1, limit - excess);
  }
}

/** Parts of a long run may join to other tokens than they have apart: counted anew, or where that is slow, given room. */
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
  const isSlow = parts.length * LONGEST_PIECE > LONGEST_COUNTED_RUN;
  const tokenCount = isSlow ? cut.tokenCount : countTokensExactly(text.slice(borders[0], cut.position));
  return { tokenCount, excess: tokenCount + (isSlow ? parts.length : 0) - size };
}

/** Where the chunk should end: the last of the best borders after `freshFrom` that fit, or none. */
function findCut(text: string, window: Window, freshFrom: number, size: number): Cut | undefined {
  let sum = 0;
  const prefix = [0, ...window.counts.map((count) => (sum += count))];
  let last = prefix.length - 1;
  while ((prefix[last] ?? 0) > size) last -= 1;
  let best: Cut | undefined;
  let bestValue = -1;
  for (let index = last; index > 0 && bestValue < BORDER.paragraph; index -= 1) {
    // Below half a chunk nothing beats a border found above it.
    if (bestValue > 0 && (prefix[index] ?? 0) * 2 < size) break;
    const position = cutPosition(text, window, index);
    if (position <= freshFrom) break;
    const before = prefix[index] ?? 0;
    const value = valueOf(borderAt(text, position), before / size);
    if (value <= bestValue) continue;
    const tokenCount = before + leadTokens(text, window, { index, position });
    if (tokenCount > size) continue;
    best = { position, tokenCount };
    bestValue = value;
  }
  if (best) return best;
  return (window.borders[0] ?? 0) < freshFrom ? undefined : cutInside(text, window, size);
}

/** A border counts in full only where the chunk is filled enough; a better one may leave more room. */
function valueOf(border: number, filled: number): number {
  if (border === BORDER.unfit) return 0;
  const enough = border >= BORDER.line ? 0.5 : 0.75;
  return filled >= enough ? border : border / 10;
}

/** Where to cut before piece `index`: behind the blank or full stop that the tokenizer holds as the start of a word. */
function cutPosition(text: string, { borders }: Window, index: number): number {
  const position = borders[index] ?? 0;
  const next = borders[index + 1] ?? position;
  return next - position > 1 && leadsPiece(text, position) ? position + 1 : position;
}

/** Tokens that a cut at `position` adds to those before piece `index`: its lead's, alone or as one with the blanks before. */
function leadTokens(
  text: string,
  { borders, counts }: Window,
  { index, position }: { index: number; position: number },
): number {
  const border = borders[index] ?? 0;
  if (position === border) return 0;
  const lead = text.slice(border, position);
  const previous = text.slice(borders[index - 1], border);
  const merges = lead === ' ' && /^[^\S\r\n]+$/u.test(previous);
  return merges ? countTokens(previous + lead) - (counts[index - 1] ?? 0) : countTokens(lead);
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

/** The longest beginning of the window's first piece that fits; one character if none does. */
function cutInside(text: string, { borders }: Window, size: number): Cut {
  const start = borders[0] ?? 0;
  const piece = text.slice(start, borders[1]);
  const characters = Array.from(new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(piece));
  let low = 1;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const length = characters[middle]?.index ?? piece.length;
    if (countTokens(piece.slice(0, length)) <= size) low = middle;
    else high = middle - 1;
  }
  const length = characters[low]?.index ?? piece.length;
  return { position: start + length, tokenCount: countTokens(piece.slice(0, length)) };
}

/** Where the next chunk starts: as many whole sentences before the cut as `overlap` tokens hold, else lines, else words. */
function overlapStart(
  text: string,
  window: Window,
  { cut, overlap }: { cut: number; overlap: number },
): number {
  let tokens = 0;
  let best = cut;
  let bestBorder: number = BORDER.character;
  for (let index = window.counts.length - 1; index > 0; index -= 1) {
    const border = window.borders[index] ?? 0;
    if (border >= cut) continue;
    tokens += window.counts[index] ?? 0;
    if (tokens > overlap) break;
    const position = cutPosition(text, window, index);
    if (position >= cut) continue;
    const found = Math.min(borderAt(text, position), BORDER.sentence);
    if (found >= bestBorder) {
      best = position;
      bestBorder = found;
    }
  }
  return best;
}

/** The part of the window from `start` on, split anew from there until the borders meet the known ones. */
function windowFrom(text: string, { borders, counts }: Window, start: number): Window {
  let index = borders.findIndex((border) => border >= start);
  if (index < 0) return { borders: [start], counts: [] };
  const newBorders = [start];
  const newCounts: number[] = [];
  let position = start;
  while (position !== borders[index]) {
    const { ends, counts: found } = countPieces(text, position, 1);
    position = ends[0] ?? text.length;
    newBorders.push(position);
    newCounts.push(found[0] ?? 0);
    while (index < borders.length && (borders[index] ?? 0) < position) index += 1;
    if (index >= borders.length) return { borders: newBorders, counts: newCounts };
  }
  for (let next = index + 1; next < borders.length; next += 1) newBorders.push(borders[next] ?? 0);
  for (let next = index; next < counts.length; next += 1) newCounts.push(counts[next] ?? 0);
  return { borders: newBorders, counts: newCounts };
}
