import { at } from '../../shared/at.js';
import type { TermCounts, TermList } from './terms.js';

/*
 * The packed layout, which chunks keep for ever: byte 0 is the version (1); bytes 1–4 are
 * `length`; then n terms follow as ascending unsigned 32-bit integers; then n counts of one byte,
 * where 255 means "255 or more". Integers are little-endian.
 */
const PACKED_VERSION = 1;
const HEADER_BYTES = 5;
const BYTES_A_TERM = 5;

export function packTerms({ length, counts }: TermCounts): Uint8Array {
  return packList({
    length,
    terms: Uint32Array.from(counts.keys()),
    counts: Uint32Array.from(counts.values()),
  });
}

/** More than any count that is packed. */
const COUNTS = 256;

export function packList({ length, terms, counts }: TermList): Uint8Array {
  const size = terms.length;
  // Each term together with its count, which a double holds exactly, so that both are sorted at once.
  const both = new Float64Array(size);
  for (let i = 0; i < size; i += 1) both[i] = terms[i] * COUNTS + Math.min(COUNTS - 1, counts[i]);
  both.sort();
  const packed = new Uint8Array(HEADER_BYTES + BYTES_A_TERM * size);
  packed[0] = PACKED_VERSION;
  writeUint32(packed, 1, length);
  for (let i = 0; i < size; i += 1) {
    const each = both[i];
    const term = Math.floor(each / COUNTS);
    writeUint32(packed, HEADER_BYTES + 4 * i, term);
    packed[HEADER_BYTES + 4 * size + i] = each - COUNTS * term;
  }
  return packed;
}

function writeUint32(bytes: Uint8Array, start: number, value: number): void {
  bytes[start] = value;
  bytes[start + 1] = value >>> 8;
  bytes[start + 2] = value >>> 16;
  bytes[start + 3] = value >>> 24;
}

export function unpackTerms(packed: Uint8Array): TermCounts {
  const size = sizeOf(packed);
  const counts = new Map<number, number>();
  for (let index = 0; index < size; index += 1) {
    const count = at(packed, HEADER_BYTES + 4 * size + index);
    counts.set(readUint32(packed, HEADER_BYTES + 4 * index), count);
  }
  return { length: packedLength(packed), counts };
}

/** Returns every term once, ascending. */
export function packedTerms(packed: Uint8Array): number[] {
  const terms: number[] = [];
  const size = packedSize(packed);
  for (let index = 0; index < size; index += 1) terms.push(packedTerm(packed, index));
  return terms;
}

/** Calls `tell` for each term, ascending, with its count. Does nothing when nothing was packed. */
export function readTerms(packed: Uint8Array, tell: (term: number, count: number) => void): void {
  const size = packedSize(packed);
  for (let index = 0; index < size; index += 1)
    tell(packedTerm(packed, index), packedCount(packed, size, index));
}

/** Returns the number of terms; 0 when nothing was packed. */
export function packedSize(packed: Uint8Array): number {
  return packed.length === 0 ? 0 : sizeOf(packed);
}

/** Returns the term at a place below the size. The terms at the places after it are higher. */
export function packedTerm(packed: Uint8Array, index: number): number {
  return readUint32(packed, HEADER_BYTES + 4 * index);
}

/** Returns the count of the term at a place below the size, which is given because it is known wherever terms are read. */
export function packedCount(packed: Uint8Array, size: number, index: number): number {
  return packed[HEADER_BYTES + 4 * size + index];
}

/** Returns the number of occurrences of all terms together. */
export function packedLength(packed: Uint8Array): number {
  return readUint32(packed, 1);
}

/**
 * Writes the count of each of `terms`, which must ascend, to the same place of `counts`. Each term is
 * searched by bisection after the one before it, without allocating.
 */
export function readCounts(packed: Uint8Array, terms: Uint32Array, counts: Uint8Array): void {
  const size = sizeOf(packed);
  let low = 0;
  for (let place = 0; place < terms.length; place += 1) {
    const term = terms[place];
    let high = size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (readUint32(packed, HEADER_BYTES + 4 * middle) < term) low = middle + 1;
      else high = middle;
    }
    const isFound = low < size && readUint32(packed, HEADER_BYTES + 4 * low) === term;
    counts[place] = isFound ? packed[HEADER_BYTES + 4 * size + low] : 0;
  }
}

/** Tells whether these bytes can be read as packed terms. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes[0] === PACKED_VERSION && bytes.length % BYTES_A_TERM === 0;
}

function sizeOf(packed: Uint8Array): number {
  if (!isPacked(packed)) throw new Error('not packed terms');
  return packed.length / BYTES_A_TERM - 1;
}

/** Read once for each term of each candidate: a check of each byte would slow ranking down. */
function readUint32(bytes: Uint8Array, start: number): number {
  const high = (bytes[start + 3] << 24) | (bytes[start + 2] << 16);
  return (high | (bytes[start + 1] << 8) | bytes[start]) >>> 0;
}
