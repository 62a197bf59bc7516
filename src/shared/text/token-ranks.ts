import { readFileSync } from 'node:fs';

/**
 * The tokens of an encoding, each named by its rank: the lower, the earlier its bytes are joined. The table is a file that
 * is used as it was read (`scripts/build-assets.mjs` makes it), so that a process has it within milliseconds.
 */
export interface TokenRanks {
  /** A hash table with linear probing: ranks, and -1 where there is none. Its length is a power of two. */
  readonly slots: Int32Array;
  /** Token `rank` is `bytes` from `starts[rank]` to `starts[rank + 1]`. */
  readonly starts: Uint32Array;
  readonly bytes: Uint8Array;
  /** The length of the longest token. */
  readonly longest: number;
  /** The result for two bytes; 0 where nothing was looked for yet. */
  readonly ofTwo: Int32Array;
}

/** No token consists of these bytes. Higher than any rank. */
export const NO_RANK = 0x7fffffff;

const HEADER_NUMBERS = 3;
const NUMBER_BYTES = Int32Array.BYTES_PER_ELEMENT;

/** Returns the content of the file. @param tokens by rank */
export function packTokenRanks(tokens: readonly Uint8Array[]): Uint8Array {
  let slotCount = 1;
  while (slotCount < 2 * tokens.length) slotCount *= 2;
  const slots = new Int32Array(slotCount).fill(-1);
  const starts = new Uint32Array(tokens.length + 1);
  for (const [rank, { length }] of tokens.entries()) starts[rank + 1] = starts[rank] + length;
  const bytes = Buffer.concat(tokens);
  const mask = slotCount - 1;
  for (const [rank, token] of tokens.entries()) {
    let slot = hashOf(token, 0, token.length) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = rank;
  }
  const longest = tokens.reduce((most, { length }) => Math.max(most, length), 0);
  const header = Int32Array.of(slotCount, tokens.length, longest);
  return Buffer.concat(
    [header, slots, starts, bytes].map(
      (part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength),
    ),
  );
}

export function readTokenRanks(file: URL): TokenRanks {
  const { buffer, byteOffset, byteLength } = readFileSync(file);
  const [slotCount = 0, tokenCount = 0, longest = 0] = new Int32Array(buffer, byteOffset, HEADER_NUMBERS);
  const slotsAt = byteOffset + HEADER_NUMBERS * NUMBER_BYTES;
  const startsAt = slotsAt + slotCount * NUMBER_BYTES;
  const bytesAt = startsAt + (tokenCount + 1) * NUMBER_BYTES;
  return {
    slots: new Int32Array(buffer, slotsAt, slotCount),
    starts: new Uint32Array(buffer, startsAt, tokenCount + 1),
    bytes: new Uint8Array(buffer, bytesAt, byteOffset + byteLength - bytesAt),
    longest,
    ofTwo: new Int32Array(2 ** 16),
  };
}

/** Returns the rank of the token that consists of the bytes from `from` to `to`; `NO_RANK` when there is none. */
export function rankOf(ranks: TokenRanks, bytes: Uint8Array, from: number, to: number): number {
  if (to - from > ranks.longest) return NO_RANK;
  const mask = ranks.slots.length - 1;
  for (let slot = hashOf(bytes, from, to) & mask; ; slot = (slot + 1) & mask) {
    const rank = ranks.slots[slot];
    if (rank < 0) return NO_RANK;
    if (isToken(ranks, rank, { bytes, from, to })) return rank;
  }
}

/** The same for the two bytes from `from` on. Every piece begins as single bytes, and most pieces are a few letters. */
export function rankOfTwo(ranks: TokenRanks, bytes: Uint8Array, from: number): number {
  const both = (bytes[from] << 8) | bytes[from + 1];
  const known = ranks.ofTwo[both];
  if (known !== 0) return known;
  const rank = rankOf(ranks, bytes, from, from + 2);
  ranks.ofTwo[both] = rank;
  return rank;
}

function isToken(
  { starts, bytes: known }: TokenRanks,
  rank: number,
  { bytes, from, to }: { bytes: Uint8Array; from: number; to: number },
): boolean {
  const start = starts[rank];
  if (starts[rank + 1] - start !== to - from) return false;
  for (let index = from; index < to; index += 1)
    if (bytes[index] !== known[start + index - from]) return false;
  return true;
}

/** FNV-1a, with its upper half mixed into the lower one, which alone chooses the slot. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ bytes[index], 0x01000193);
  return hash ^ (hash >>> 15);
}
