import { addTo, sumOf } from '../at.js';
import type { Quote } from '../ports.js';
import { backgroundRate } from '../text/background-terms.js';
import { listQueryTerms, listTerms } from '../text/list-terms.js';
import { sentencesOf } from '../text/sentences.js';
import { nextSlice } from '../tools/time-slices.js';

/** The part of an answer that passages hold. */
export interface Support {
  /** By passage, and by their places in it. */
  readonly quotes: readonly Quote[];
  /** Sentences of the answer that no passage supports. */
  readonly unsupported: readonly string[];
}

/** A sentence is supported by sentences that hold this share of its informative weight. */
const MIN_SHARE = 0.5;
/** A sentence says nothing that could be looked up with less informative weight: one rare word has 1. */
const MIN_WEIGHT = 1;
/** The most sentences that are quoted for one of the answer. */
const MAX_QUOTES = 3;
/** A further sentence has to add this share. */
const MIN_GAIN = 0.2;

/**
 * Finds the sentences of passages that each sentence of an answer was made from, by the words that both hold: first in the
 * passages that it cites (`[1]`, `[2, 3]`), then in all. All numbers of a sentence have to stand in these passages. An answer in
 * another language than its passages shares few words with them, so that nothing of it is quoted.
 * @param numberOf the number, from 0, by which a passage is cited, where several have one; its own by default
 */
export async function findSupport(
  answer: string,
  passages: readonly string[],
  numberOf: (passage: number) => number = (passage) => passage,
): Promise<Support> {
  const index = await indexPassages(passages);
  const quotes: Quote[] = [];
  const unsupported: string[] = [];
  for (const claim of claimsOf(answer)) {
    await nextSlice();
    const weights = weightsOf(claim.words);
    const total = sum(weights.values());
    if (total < MIN_WEIGHT) continue;
    const cited = new Set(claim.cited);
    const found =
      supportOf(claim, { index, weights, isWanted: (passage) => cited.has(numberOf(passage)) }) ??
      supportOf(claim, { index, weights, isWanted: () => true });
    if (found) quotes.push(...found);
    else unsupported.push(claim.text);
  }
  return { quotes: inOrder(quotes), unsupported };
}

/** A sentence of an answer. */
interface Claim {
  /** The sentence as it stands in the answer. */
  readonly text: string;
  /** Its words, without the numbers of passages. */
  readonly words: string;
  /** The passages that it cites, by their numbers from 0. */
  readonly cited: readonly number[];
}

/** The numbers of passages that an answer cites, such as `[1]`, `[2, 3]`, `[1-3]` or `【4†source】`. */
const CITATION = /[[【]\s?(\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,50})\s?(?:†[^[\]【】]{0,80})?[\]】]/gu;
/** Citations with which a sentence begins belong to the one before. */
const LEADING = new RegExp(`^(?:\\s*${CITATION.source})+[\\s.,;:]*`, 'u');
/** The number or sign of a list item. */
const ITEM = /^\s*(?:[-*•#]+|\d{1,3}[.)])(?:\s+|$)/u;

function claimsOf(answer: string): Claim[] {
  const claims: Claim[] = [];
  for (const { start, end } of sentencesOf(answer)) {
    const sentence = answer.slice(start, end);
    const leading = LEADING.exec(sentence)?.[0] ?? '';
    const before = claims.at(-1);
    if (before && leading !== '')
      claims[claims.length - 1] = { ...before, cited: [...before.cited, ...citedIn(leading)] };
    const text = sentence.slice(leading.length);
    const words = text.replace(CITATION, ' ').replace(ITEM, '');
    const cited = before ? citedIn(text) : citedIn(sentence);
    if (words.trim() !== '') claims.push({ text, words, cited });
  }
  return claims;
}

function citedIn(text: string): number[] {
  return Array.from(text.matchAll(CITATION), ([, numbers = '']) => numbers)
    .flatMap((numbers) => numbers.split(/[,;]/))
    .flatMap((part) => {
      const [first = 0, last = first] = part.split(/[–-]/).map(Number);
      return Array.from(
        { length: Math.min(MAX_RANGE, Math.max(0, last - first + 1)) },
        (_, i) => first + i - 1,
      );
    });
}

/** No answer means more passages by a range. */
const MAX_RANGE = 50;

type Weights = ReadonlyMap<number, number>;

/** The share of general texts that hold a word: rarer ones count alike. */
const LEAST_RATE = 0.0005;

/** The informative weight of each word: 1 for a rare one, less for those that many texts hold. Stop words have none. */
function weightsOf(words: string): Weights {
  if (listTerms(words).length === 0) return new Map();
  const weight = (term: number) =>
    Math.log(Math.max(LEAST_RATE, backgroundRate(term))) / Math.log(LEAST_RATE);
  return new Map(Array.from(listQueryTerms(words).terms, (term) => [term, weight(term)]));
}

const sum = (values: Iterable<number>): number =>
  Array.from(values).reduce((total, value) => total + value, 0);

/** The sentences of passages by the words that they hold, and the passages by their numbers. */
interface PassageIndex {
  readonly byTerm: ReadonlyMap<number, readonly Sentence[]>;
  readonly byNumber: ReadonlyMap<string, ReadonlySet<number>>;
}

interface Sentence extends Quote {
  readonly terms: Uint32Array;
}

async function indexPassages(passages: readonly string[]): Promise<PassageIndex> {
  const byTerm = new Map<number, Sentence[]>();
  const byNumber = new Map<string, Set<number>>();
  for (const [passage, text] of passages.entries()) {
    await nextSlice();
    for (const { start, end } of sentencesOf(text)) {
      const sentence = { passage, start, end, terms: listTerms(text.slice(start, end)).terms };
      for (const term of sentence.terms) getOrCreate(byTerm, term, () => []).push(sentence);
    }
    for (const number of numbersOf(text)) getOrCreate(byNumber, number, () => new Set()).add(passage);
  }
  return { byTerm, byNumber };
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

/** The passages in which a sentence of the answer is looked for. */
interface SupportSearch {
  readonly index: PassageIndex;
  readonly weights: Weights;
  readonly isWanted: (passage: number) => boolean;
}

/** The sentences that hold a claim together; null where they do not hold enough of it. */
function supportOf({ words }: Claim, { index, weights, isWanted }: SupportSearch): readonly Quote[] | null {
  const isWritten = (number: string) => Array.from(index.byNumber.get(number) ?? []).some(isWanted);
  if (!numbersOf(words).every(isWritten)) return null;
  const total = sum(weights.values());
  const left = new Map(weights);
  const chosen: Sentence[] = [];
  while (chosen.length < MAX_QUOTES) {
    const [best, gain] = bestOf(left, { index, weights, isWanted });
    if (!best || gain < MIN_GAIN * total) break;
    chosen.push(best);
    for (const term of best.terms) left.delete(term);
  }
  return total - sum(left.values()) >= MIN_SHARE * total ? chosen : null;
}

/** The sentence that holds most of some words; the shorter and then the earlier one of two. */
function bestOf(
  left: Weights,
  { index, isWanted }: SupportSearch,
): readonly [best: Sentence | undefined, gain: number] {
  const gains = new Map<Sentence, number>();
  for (const [term, weight] of left)
    for (const sentence of index.byTerm.get(term) ?? [])
      if (isWanted(sentence.passage)) addTo(gains, sentence, weight);
  let best: Sentence | undefined;
  for (const sentence of gains.keys()) if (!best || isBetter(sentence, best, gains)) best = sentence;
  return [best, best ? sumOf(gains, best) : 0];
}

function isBetter(one: Sentence, other: Sentence, gains: ReadonlyMap<Sentence, number>): boolean {
  const lengthOf = ({ start, end }: Sentence) => end - start;
  const order =
    sumOf(gains, one) - sumOf(gains, other) ||
    lengthOf(other) - lengthOf(one) ||
    other.passage - one.passage ||
    other.start - one.start;
  return order > 0;
}

/** A number with its separators, as it is written. */
const NUMBER = /\p{Nd}+(?:[.,:]\p{Nd}+)*/gu;

const numbersOf = (words: string): string[] => words.match(NUMBER) ?? [];

const inOrder = (quotes: readonly Quote[]): Quote[] => {
  const different = new Map(
    quotes.map(({ passage, start, end }) => [`${String(passage)}:${String(start)}`, { passage, start, end }]),
  );
  return [...different.values()].toSorted((a, b) => a.passage - b.passage || a.start - b.start);
};
