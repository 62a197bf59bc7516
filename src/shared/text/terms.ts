import { at, valueOf } from '../at.js';
import { findWords, isUnspaced, MAX_WORD_LENGTH, splitWord } from './words.js';

/** How often each term, known by its 32-bit hash, occurs in a text. `length` is the sum of the counts. */
export interface TermCounts {
  readonly length: number;
  readonly counts: ReadonlyMap<number, number>;
}

/** Recent texts are remembered, since a text is analysed for its vector, its terms and its ranking in a short time. */
const RECENT_TEXTS = 256;
const MAX_RECENT_LENGTH = 16_384;
const recent = new Map<string, TermCounts>();

/**
 * Counts the terms of a text: folded and stemmed words without English stop words,
 * and character pairs in scripts without spaces.
 */
export function analyzeText(text: string): TermCounts {
  const known = recent.get(text);
  if (known) return known;
  const analysis = countTerms(text);
  if (recent.size >= RECENT_TEXTS) recent.clear();
  if (text.length <= MAX_RECENT_LENGTH) recent.set(text, analysis);
  return analysis;
}

function countTerms(text: string): TermCounts {
  const counts = new Map<number, number>();
  let length = 0;
  for (const word of findWords(text)) {
    const terms = termsOf(word);
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    length += terms.length;
  }
  return { length, counts };
}

const MAX_REMEMBERED = 50_000;
const remembered = new Map<string, readonly number[]>();

function termsOf(word: string): readonly number[] {
  const known = remembered.get(word);
  if (known) return known;
  const terms = splitWord(word).map(hashTerm);
  if (word.length <= MAX_WORD_LENGTH && !isUnspaced(word)) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(detach(word), terms);
  }
  return terms;
}

/** Copies a word. V8 cuts words of 13 characters and more as views, which would keep the whole text alive. */
function detach(word: string): string {
  return Buffer.from(word, 'utf16le').toString('utf16le');
}

/** Hashes with FNV-1a over UTF-16 units, and then the finaliser of MurmurHash3, so that every bit depends on every unit. */
export function hashTerm(term: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < term.length; index += 1)
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193);
  return mixBits(hash);
}

/** Maps 32-bit integers one to one, with output bits that depend on all input bits (MurmurHash3, public domain). */
export function mixBits(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/*
 * The packed layout, which chunks keep for ever: byte 0 is the version (1); bytes 1–4 are
 * `length`; then n terms follow as ascending unsigned 32-bit integers; then n counts of one byte,
 * where 255 means "255 or more". Integers are little-endian.
 */
const PACKED_VERSION = 1;
const HEADER_BYTES = 5;
const BYTES_A_TERM = 5;

export function packTerms({ length, counts }: TermCounts): Uint8Array {
  const terms = Uint32Array.from(counts.keys()).sort();
  const packed = new Uint8Array(HEADER_BYTES + BYTES_A_TERM * terms.length);
  const view = new DataView(packed.buffer);
  view.setUint8(0, PACKED_VERSION);
  view.setUint32(1, length, true);
  terms.forEach((term, index) => {
    view.setUint32(HEADER_BYTES + 4 * index, term, true);
    packed[HEADER_BYTES + 4 * terms.length + index] = Math.min(255, valueOf(counts, term));
  });
  return packed;
}

export function unpackTerms(packed: Uint8Array): TermCounts {
  const size = packedSize(packed);
  const counts = new Map<number, number>();
  for (let index = 0; index < size; index += 1) {
    const count = at(packed, HEADER_BYTES + 4 * size + index);
    counts.set(readUint32(packed, HEADER_BYTES + 4 * index), count);
  }
  return { length: packedLength(packed), counts };
}

/** Returns every term once, ascending. */
export function packedTerms(packed: Uint8Array): number[] {
  return Array.from({ length: packedSize(packed) }, (_, index) =>
    readUint32(packed, HEADER_BYTES + 4 * index),
  );
}

/** Calls `tell` for each term, ascending, with its count. Does nothing when nothing was packed. */
export function readTerms(packed: Uint8Array, tell: (term: number, count: number) => void): void {
  const size = packed.length === 0 ? 0 : packedSize(packed);
  for (let index = 0; index < size; index += 1)
    tell(readUint32(packed, HEADER_BYTES + 4 * index), packed[HEADER_BYTES + 4 * size + index] ?? 0);
}

/** The occurrences of all terms together. */
export function packedLength(packed: Uint8Array): number {
  return readUint32(packed, 1);
}

/**
 * Writes the count of each of `terms`, which must ascend, to the same place of `counts`. Each term is
 * searched by bisection after the one before it, without allocating.
 */
export function readCounts(packed: Uint8Array, terms: Uint32Array, counts: Uint8Array): void {
  const size = packedSize(packed);
  let low = 0;
  for (let place = 0; place < terms.length; place += 1) {
    const term = terms[place] ?? 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (readUint32(packed, HEADER_BYTES + 4 * middle) < term) low = middle + 1;
      else high = middle;
    }
    const isFound = low < size && readUint32(packed, HEADER_BYTES + 4 * low) === term;
    counts[place] = isFound ? (packed[HEADER_BYTES + 4 * size + low] ?? 0) : 0;
  }
}

/** Whether these bytes can be read as packed terms. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes[0] === PACKED_VERSION && bytes.length % BYTES_A_TERM === 0;
}

function packedSize(packed: Uint8Array): number {
  if (!isPacked(packed)) throw new Error('not packed terms');
  return packed.length / BYTES_A_TERM - 1;
}

/** Read once for each term of each candidate: a check of each byte would slow ranking down. */
function readUint32(bytes: Uint8Array, start: number): number {
  const high = ((bytes[start + 3] ?? 0) << 24) | ((bytes[start + 2] ?? 0) << 16);
  return (high | ((bytes[start + 1] ?? 0) << 8) | (bytes[start] ?? 0)) >>> 0;
}
