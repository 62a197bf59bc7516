import { addNumber, createNumberQueue, takeLowest, type NumberQueue } from './number-queue.js';
import { NO_RANK, rankOf, type TokenRanks } from './token-ranks.js';

/** A pair is kept as one number that orders pairs: its rank times this, plus its place. */
const PLACES = 2 ** 32;

/** The parts of a piece. A part is named by the byte that it starts at. */
interface Parts {
  readonly ranks: TokenRanks;
  readonly bytes: Uint8Array;
  readonly length: number;
  /** The starts of the part before and of the part behind: behind the last one is the end of the piece. */
  readonly before: Int32Array;
  readonly behind: Int32Array;
  /** The rank of the token that each part would form together with the next. */
  readonly pairs: Int32Array;
  /** Pairs by rank, with some that no longer exist. */
  readonly queue: NumberQueue;
}

/**
 * Counts the tokens of a piece as `countPieceTokens` does, in time that is nearly linear in its length: the pairs wait in a
 * queue, where looking at all of them for the lowest one takes less only for a few.
 *
 * @param length of the piece, in bytes
 */
export function countLongPiece(ranks: TokenRanks, bytes: Uint8Array, length: number): number {
  const parts: Parts = {
    ranks,
    bytes,
    length,
    before: Int32Array.from({ length }, (_, at) => at - 1),
    behind: Int32Array.from({ length }, (_, at) => at + 1),
    pairs: new Int32Array(length),
    // Each pair that is joined makes two new ones.
    queue: createNumberQueue(3 * length),
  };
  for (let part = 0; part < length; part += 1) offerPair(parts, part);
  let count = length;
  for (let lowest = takeLowest(parts.queue); lowest < Infinity; lowest = takeLowest(parts.queue)) {
    const part = lowest % PLACES;
    if (parts.pairs[part] !== (lowest - part) / PLACES) continue;
    joinPair(parts, part);
    count -= 1;
  }
  return count;
}

/** Makes one part of a part and the next. */
function joinPair(parts: Parts, part: number): void {
  const { length, before, behind, pairs } = parts;
  const next = behind[part] ?? length;
  const after = behind[next] ?? length;
  pairs[next] = NO_RANK;
  behind[part] = after;
  if (after < length) before[after] = part;
  offerPair(parts, part);
  if (part > 0) offerPair(parts, before[part] ?? 0);
}

/** Puts the pair of a part and the next into the queue, if they form a token. */
function offerPair({ ranks, bytes, length, behind, pairs, queue }: Parts, part: number): void {
  const next = behind[part] ?? length;
  const rank = next < length ? rankOf(ranks, bytes, part, behind[next] ?? length) : NO_RANK;
  pairs[part] = rank;
  if (rank !== NO_RANK) addNumber(queue, rank * PLACES + part);
}
