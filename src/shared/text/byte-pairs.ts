import { countLongPiece } from './long-pieces.js';
import { NO_RANK, rankOf, rankOfTwo, type TokenRanks } from './token-ranks.js';

const encoder = new TextEncoder();
/** The most bytes that a UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

/** Longer pieces, in bytes, are counted with a queue. */
const MAX_SCANNED = 256;

/** The bytes of the piece being counted; they grow with the longest piece. */
let bytes = new Uint8Array(0);
/** The starts of the parts of the piece, and behind them its end. */
let starts = new Int32Array(0);
/** The rank of the token that each part would form together with the next. */
let pairs = new Int32Array(0);

function makeRoom(units: number): void {
  const wanted = units * MAX_UNIT_BYTES;
  if (bytes.length >= wanted) return;
  bytes = new Uint8Array(wanted);
  starts = new Int32Array(wanted + 1);
  pairs = new Int32Array(wanted + 1);
}

/**
 * Counts the tokens of a piece of text by byte pair encoding: the two neighbours that form the token of the lowest rank
 * become one, the first of several, until no two form one.
 */
export function countPieceTokens(ranks: TokenRanks, piece: string): number {
  makeRoom(piece.length);
  const length = encoder.encodeInto(piece, bytes).written;
  if (length < 2 || rankOf(ranks, bytes, 0, length) !== NO_RANK) return Math.min(length, 1);
  if (length > MAX_SCANNED) return countLongPiece(ranks, bytes, length);
  for (let part = 0; part <= length; part += 1) starts[part] = part;
  for (let part = 0; part < length - 1; part += 1) pairs[part] = rankOfTwo(ranks, bytes, part);
  return joinParts(ranks, length);
}

/** @param count of the parts, each one byte. @returns how many are left */
function joinParts(ranks: TokenRanks, count: number): number {
  let parts = count;
  for (;;) {
    const joined = firstLowest(parts - 1);
    if (joined < 0) return parts;
    // In place: of the few parts that most pieces have, a loop moves the rest sooner than a call does.
    for (let part = joined + 1; part < parts; part += 1) {
      starts[part] = starts[part + 1] ?? 0;
      pairs[part - 1] = pairs[part] ?? NO_RANK;
    }
    parts -= 1;
    if (joined > 0) pairs[joined - 1] = rankFrom(ranks, joined - 1);
    if (joined < parts - 1) pairs[joined] = rankFrom(ranks, joined);
  }
}

/** The rank of the token that a part forms together with the next. */
const rankFrom = (ranks: TokenRanks, part: number): number =>
  rankOf(ranks, bytes, starts[part] ?? 0, starts[part + 2] ?? 0);

/** The first of `count` pairs with the lowest rank; -1 when none forms a token. */
function firstLowest(count: number): number {
  let lowest = NO_RANK;
  let found = -1;
  for (let part = 0; part < count; part += 1) {
    const rank = pairs[part] ?? NO_RANK;
    if (rank < lowest) {
      lowest = rank;
      found = part;
    }
  }
  return found;
}
