import { hashTerm } from './hash-term.js';
import {
  addSpan,
  createSpanTable,
  findSpan,
  forgetSpans,
  hasRoom,
  UNKNOWN,
  type Span,
} from './span-table.js';
import { addTerm, clearTally, createTally, listTally, type TermList } from './term-tally.js';
import { normalizeText, wordEnd, wordStart } from './word-spans.js';
import { isUnspaced, MAX_WORD_LENGTH, splitWord } from './words.js';

/** Recent texts are remembered, since a text is analysed for its vector, its terms and its ranking in a short time. */
const MAX_RECENT_UNITS = 2 ** 20;
const MAX_RECENT_LENGTH = 16_384;
/** What a list takes beside its text, as a number of units. */
const LIST_UNITS = 1_024;
const recent = new Map<string, TermList>();
let recentUnits = 0;

/**
 * Lists the terms of a text in the order in which they first occur: folded and stemmed words without English stop words, and
 * character pairs in scripts without spaces.
 */
export function listTerms(text: string): TermList {
  const known = recent.get(text);
  if (known) return known;
  const list = countTerms(text);
  if (text.length <= MAX_RECENT_LENGTH) {
    recent.set(text, list);
    recentUnits += text.length + LIST_UNITS;
    forgetOldest();
  }
  return list;
}

function forgetOldest(): void {
  for (const text of recent.keys()) {
    if (recentUnits <= MAX_RECENT_UNITS) return;
    recent.delete(text);
    recentUnits -= text.length + LIST_UNITS;
  }
}

const tally = createTally();

function countTerms(text: string): TermList {
  const normal = normalizeText(text);
  clearTally(tally);
  for (let start = wordStart(normal, 0); start < normal.length;) {
    const end = wordEnd(normal, start);
    countWord(normal, start, end);
    start = wordStart(normal, end);
  }
  return listTally(tally);
}

const MAX_WORDS = 65_536;
const words = createSpanTable({ pieces: MAX_WORDS, units: 8 * MAX_WORDS });
/** For each of these words, from its value on: how many terms it has, and these. */
const termsOfWords = new Uint32Array(4 * MAX_WORDS);
let used = 0;

function countWord(text: string, start: number, end: number): void {
  const place = end - start <= MAX_WORD_LENGTH ? findSpan(words, text, start, end) : UNKNOWN;
  if (place === UNKNOWN) {
    const word = text.slice(start, end);
    const terms = splitWord(word).map(hashTerm);
    for (const term of terms) addTerm(tally, term);
    if (word.length <= MAX_WORD_LENGTH && !isUnspaced(word)) remember({ text, start, end }, terms);
    return;
  }
  const last = place + (termsOfWords[place] ?? 0);
  for (let at = place + 1; at <= last; at += 1) addTerm(tally, termsOfWords[at] ?? 0);
}

function remember(word: Span, terms: readonly number[]): void {
  if (!hasRoom(words, word) || used + 1 + terms.length > termsOfWords.length) {
    forgetSpans(words);
    used = 0;
  }
  if (!addSpan(words, word, used)) return;
  termsOfWords[used] = terms.length;
  termsOfWords.set(terms, used + 1);
  used += 1 + terms.length;
}
