import {
  addSpan,
  createSpanTable,
  findSpan,
  forgetSpans,
  hasRoom,
  UNKNOWN,
  type Span,
  type SpanTable,
} from '../span-table.js';
import { addSilently, addTerm, type TermTally } from '../term-tally.js';

const MAX_WORDS = 65_536;

/** Words that were seen before, with their terms. It forgets all of them when it is full. */
export interface KnownWords {
  readonly spans: SpanTable;
  /** The terms of each word, from its value on: how many of them count in the length, how many do not, and the terms. */
  readonly terms: Uint32Array;
  used: number;
  /** The tally that they are counted in. */
  readonly tally: TermTally;
}

export const createKnownWords = (tally: TermTally): KnownWords => ({
  tally,
  spans: createSpanTable({ pieces: MAX_WORDS, units: 8 * MAX_WORDS }),
  terms: new Uint32Array(5 * MAX_WORDS),
  used: 0,
});

/** Adds the terms of the word from `start` to `end` to the tally. @returns false for a word that is not known */
export function countKnown(
  { spans, terms, tally }: KnownWords,
  text: string,
  start: number,
  end: number,
): boolean {
  const place = findSpan(spans, text, start, end);
  if (place === UNKNOWN) return false;
  const first = place + 2;
  const others = first + (terms[place] ?? 0);
  const last = others + (terms[place + 1] ?? 0);
  for (let at = first; at < others; at += 1) addTerm(tally, terms[at] ?? 0);
  for (let at = others; at < last; at += 1) addSilently(tally, terms[at] ?? 0);
  return true;
}

export function remember(
  words: KnownWords,
  span: Span,
  { named, others }: { readonly named: readonly number[]; readonly others: readonly number[] },
): void {
  const size = 2 + named.length + others.length;
  if (!hasRoom(words.spans, span) || words.used + size > words.terms.length) {
    forgetSpans(words.spans);
    words.used = 0;
  }
  if (!addSpan(words.spans, span, words.used)) return;
  words.terms.set([named.length, others.length, ...named, ...others], words.used);
  words.used += size;
}
