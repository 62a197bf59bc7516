import { at } from '../../shared/at.js';
import { MAX_PIECE_LENGTH } from '../../shared/text/pre-tokenizer.js';
import { countTokens, countTokensExactly, mayBePart } from '../../shared/text/token-count.js';
import { BORDER, borderAt } from './borders.js';
import { fillWindow, type Window } from './window.js';

/** UTF-16 units that tiktoken encodes as one run in a few milliseconds. */
const MAX_COUNTED_RUN = 2048;

export interface Cut {
  readonly position: number;
  readonly tokenCount: number;
}

/** Where the chunk should end so that it fits by tiktoken's own count; none where the overlap leaves no room. */
export function findFittingCut(
  text: string,
  window: Window,
  freshFrom: number,
  size: number,
): Cut | undefined {
  const total = fillWindow(text, window, size);
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
  const isSlow = parts.length * MAX_PIECE_LENGTH > MAX_COUNTED_RUN;
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
  return at(window.borders, 0) < freshFrom ? undefined : cutInside(text, window, size);
}

/** A border counts in full only where the chunk is filled enough; a better one may leave more room. */
function valueOf(border: number, filled: number): number {
  if (border === BORDER.unfit) return 0;
  const enough = border >= BORDER.line ? 0.5 : 0.75;
  return filled >= enough ? border : border / 10;
}

/** Where to cut before piece `index`: behind the blank or full stop that the tokenizer holds as the start of a word. */
export function cutPosition(text: string, { borders }: Window, index: number): number {
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

/** The longest beginning of the window's first piece that fits; one character if none does. */
function cutInside(text: string, { borders }: Window, size: number): Cut {
  const start = at(borders, 0);
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
