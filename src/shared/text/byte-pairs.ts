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
      starts[part] = starts[part + 1];
      pairs[part - 1] = pairs[part];
    }
    parts -= 1;
    if (joined > 0) pairs[joined - 1] = rankFrom(ranks, joined - 1);
    if (joined < parts - 1) pairs[joined] = rankFrom(ranks, joined);
  }
}

/** The rank of the token that a part forms together with the next. */
const rankFrom = (ranks: TokenRanks, part: number): number =>
  rankOf(ranks, bytes, starts[part], starts[part + 2]);

/** The first of `count` pairs with the lowest rank; -1 when none forms a token. */
function firstLowest(count: number): number {
  let lowest = NO_RANK;
  let found = -1;
  for (let part = 0; part < count; part += 1) {
    const rank = pairs[part];
    if (rank < lowest) {
      lowest = rank;
      found = part;
    }
  }
  return found;
}

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
function countLongPiece(ranks: TokenRanks, bytes: Uint8Array, length: number): number {
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
  const next = behind[part];
  const after = behind[next];
  pairs[next] = NO_RANK;
  behind[part] = after;
  if (after < length) before[after] = part;
  offerPair(parts, part);
  if (part > 0) offerPair(parts, before[part]);
}

/** Puts the pair of a part and the next into the queue, if they form a token. */
function offerPair({ ranks, bytes, length, behind, pairs, queue }: Parts, part: number): void {
  const next = behind[part];
  const rank = next < length ? rankOf(ranks, bytes, part, behind[next]) : NO_RANK;
  pairs[part] = rank;
  if (rank !== NO_RANK) addNumber(queue, rank * PLACES + part);
}

/** Gives the lowest number first: a binary heap. */
interface NumberQueue {
  /** The first `size` of them. The children of the number at `i` are at `2 i + 1` and `2 i + 2`, and are not lower. */
  readonly numbers: Float64Array;
  size: number;
}

export function createNumberQueue(capacity: number): NumberQueue {
  return { numbers: new Float64Array(capacity), size: 0 };
}

/** Adds a number to a queue that has room for it. */
export function addNumber(queue: NumberQueue, number: number): void {
  const { numbers } = queue;
  let at = queue.size;
  queue.size += 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = numbers[parent];
    if (above <= number) break;
    numbers[at] = above;
    at = parent;
  }
  numbers[at] = number;
}

/** Removes the lowest number and returns it; infinite when there is none. */
export function takeLowest(queue: NumberQueue): number {
  if (queue.size === 0) return Infinity;
  const { numbers } = queue;
  const lowest = numbers[0];
  queue.size -= 1;
  const { size } = queue;
  const last = numbers[size];
  let at = 0;
  for (let child = 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && numbers[child + 1] < numbers[child]) child += 1;
    const below = numbers[child];
    if (below >= last) break;
    numbers[at] = below;
    at = child;
  }
  numbers[at] = last;
  return lowest;
}
