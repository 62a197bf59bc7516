import { countPieceTokens } from './byte-pairs.js';
import { MAX_PIECE_LENGTH, pieceEnd } from './pre-tokenizer.js';
import { addSpan, createSpanTable, findSpan, forgetSpans, hasRoom, UNKNOWN } from './span-table.js';
import { readTokenRanks, type TokenRanks } from './token-ranks.js';

/** Counts of pieces up to this length, in UTF-16 units, are remembered. */
const MAX_WORD_LENGTH = 32;
const remembered = createSpanTable({ pieces: 65_536, units: 8 * 65_536 });
/** No token of cl100k_base has more UTF-16 units. */
export const MAX_TOKEN_LENGTH = 128;
/** Read when it is first needed, which takes a millisecond. */
let ranks: TokenRanks | undefined;

function cl100kBase(): TokenRanks {
  ranks ??= readTokenRanks(new URL('./cl100k-base.ranks', import.meta.url));
  return ranks;
}

/**
 * Consecutive pieces of a text. Piece `i` reaches from `ends[i - 1]` (or the
 * start) to `ends[i]` and has `counts[i]` tokens.
 */
export interface CountedPieces {
  readonly ends: readonly number[];
  readonly counts: readonly number[];
}

/**
 * Counts the tokens of `text` in cl100k_base. A run of over 128 characters without a border is counted in parts, and the
 * count of each part may be off by one.
 */
export function countTokens(text: string): number {
  let total = 0;
  for (let position = 0; position < text.length;) {
    const end = pieceEnd(text, position);
    total += countPiece(text, position, end);
    position = end;
  }
  return total;
}

/**
 * Counts the next pieces of `text` from `start` on (a border of pieces), at most `limit` of them. Their counts add up
 * to the text's. Each distinct piece is encoded once, which is several times as fast as encoding the whole text.
 */
export function countPieces(text: string, start: number, limit: number): CountedPieces {
  const ends: number[] = [];
  const counts: number[] = [];
  for (let position = start; position < text.length && ends.length < limit;) {
    const end = pieceEnd(text, position);
    ends.push(end);
    counts.push(countPiece(text, position, end));
    position = end;
  }
  return { ends, counts };
}

/**
 * Counts a text of at most `most` tokens whose runs are one piece each, as in nearly all short texts; null for any other
 * text, which is not looked at to its end.
 */
export function countFittingText(text: string, start: number, most: number): number | null {
  let total = 0;
  for (let position = start; position < text.length;) {
    const end = pieceEnd(text, position);
    total += countPiece(text, position, end);
    if (total > most || mayBePart(position, end)) return null;
    position = end;
  }
  return total;
}

function countPiece(text: string, start: number, end: number): number {
  // Words come again, and so do the parts of a line of dashes or of one letter.
  const mayComeAgain = end - start <= MAX_WORD_LENGTH || mayBePart(start, end);
  if (!mayComeAgain) return countPieceTokens(cl100kBase(), text.slice(start, end));
  const known = findSpan(remembered, text, start, end);
  if (known !== UNKNOWN) return known;
  const count = countPieceTokens(cl100kBase(), text.slice(start, end));
  const span = { text, start, end };
  if (!hasRoom(remembered, span)) forgetSpans(remembered);
  addSpan(remembered, span, count);
  return count;
}

/** Counts without cutting long runs: exact for runs of any length. */
export function countTokensExactly(text: string): number {
  let total = 0;
  for (let position = 0; position < text.length;) {
    const end = pieceEnd(text, position, Infinity);
    total += countPieceTokens(cl100kBase(), text.slice(position, end));
    position = end;
  }
  return total;
}

/**
 * Tells whether the piece may have been cut from a longer run. Runs are cut close to the longest piece, not always exactly
 * there.
 */
export function mayBePart(start: number, end: number): boolean {
  return end - start > MAX_PIECE_LENGTH / 2;
}
