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
