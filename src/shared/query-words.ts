import { backgroundRate } from './background-terms.js';
import type { WeightedWords } from './ports.js';
import { analyzeText } from './terms.js';

/** Counts over the chunks of the caller's own documents; `totalLength` sums the lengths of their terms. */
export interface TermStatistics {
  readonly chunks: number;
  readonly totalLength: number;
  /** Chunks that hold a term; terms that none holds may be missing. */
  readonly frequencies: ReadonlyMap<number, number>;
}

export const noStatistics: TermStatistics = { chunks: 0, totalLength: 0, frequencies: new Map() };

/** Words of a query to look for in chunks. */
export interface SoughtWords {
  readonly words: WeightedWords;
  /** What a chunk without any of them scores at most, for what is left to a later look; from 0 to 1. */
  readonly missed: number;
}

/** Saturation by repetition in the query. */
const K3 = 1;
/** The shipped background counts like this many chunks of the caller's own, of this many terms each. */
const PRIOR_CHUNKS = 30;
const PRIOR_LENGTH = 150;
/** Of a query as long as a text only its weightiest terms count, so that ranking takes milliseconds. */
const MOST_TERMS = 128;
/** Of those fewer are looked for: an engine reads all chunks of each. */
const MOST_SOUGHT = 64;
/** An engine reads as many chunks of a term in about the time that a further look takes. */
const FEW_CHUNKS = 1_000;
/** Of a query's weight, together: common terms that have no more are left out of the first look. */
const LEFT_OUT = 0.15;
/**
 * The same for terms in more than half of the chunks: where nearly all have one and some were deleted, the engine takes
 * it for the rarest of all (its inverse document frequency underflows in 8.0).
 */
const LEFT_OUT_OF_HALF = 0.2;
/** Whoever owns fewer chunks than that gets so many candidates: it is not known how much they may read. */
const OWNS_LITTLE = { chunks: 1_000, candidates: 200 };

interface WeightedTerm {
  readonly term: number;
  readonly weight: number;
}

/** The terms of a query that count, with what they weigh among the caller's chunks. */
export function weighQuery(query: string, statistics: TermStatistics): WeightedWords {
  return weightedWords(heaviestTerms(query, statistics), statistics);
}

/**
 * First what tells chunks apart, without the commonest terms, which cost most to read; then, where some were left out,
 * as many as can be looked for. A chunk that the first look missed scores less than what was left out weighs
 * (MaxScore, Turtle and Flood 1995).
 */
export function soughtWords(query: string, statistics: TermStatistics): SoughtWords[] {
  const all = heaviestTerms(query, statistics);
  const sought = all.slice(0, MOST_SOUGHT);
  const common = commonTerms(sought, statistics, weightOf(all));
  const telling = sought.filter((each) => !common.terms.has(each));
  return [
    ...(telling.length < sought.length
      ? [{ words: weightedWords(telling, statistics), missed: common.share }]
      : []),
    ...(sought.length > 0 ? [{ words: weightedWords(sought, statistics), missed: 0 }] : []),
  ];
}

/** Candidates by words to take for a short page: the more chunks there are the more score alike. */
export function candidatesAmong({ chunks }: TermStatistics): number {
  if (chunks < OWNS_LITTLE.chunks) return OWNS_LITTLE.candidates;
  return Math.max(128, Math.min(1_000, Math.ceil(Math.sqrt(chunks))));
}

/** Of the terms those in most chunks, as many as may be left out, and their share of the query's weight. */
function commonTerms(terms: readonly WeightedTerm[], statistics: TermStatistics, total: number) {
  const chunksOf = ({ term }: WeightedTerm) => statistics.frequencies.get(term) ?? 0;
  const common = new Set<WeightedTerm>();
  let share = 0;
  for (const each of terms.toSorted((a, b) => chunksOf(b) - chunksOf(a))) {
    const next = share + each.weight / total;
    if (next > mostLeftOut(chunksOf(each), statistics.chunks)) break;
    share = next;
    common.add(each);
  }
  return { terms: common, share };
}

function mostLeftOut(holding: number, chunks: number): number {
  // Of fewer all are candidates, in whatever order the engine has them.
  if (chunks > OWNS_LITTLE.candidates && holding > chunks / 2) return LEFT_OUT_OF_HALF;
  return holding > FEW_CHUNKS ? LEFT_OUT : 0;
}

function weightedWords(weighted: readonly WeightedTerm[], statistics: TermStatistics): WeightedWords {
  const ascending = weighted.toSorted((a, b) => a.term - b.term);
  const total = weightOf(weighted);
  return {
    terms: Uint32Array.from(ascending, ({ term }) => term),
    weights: Float64Array.from(ascending, ({ weight }) => weight / total),
    averageLength: blendedLength(statistics),
  };
}

function heaviestTerms(query: string, statistics: TermStatistics): WeightedTerm[] {
  const weighted = Array.from(analyzeText(query).counts, ([term, count]) => ({
    term,
    weight: (count / (count + K3)) * inverseFrequency(term, statistics),
  }));
  return weighted.sort((a, b) => b.weight - a.weight || a.term - b.term).slice(0, MOST_TERMS);
}

function weightOf(terms: readonly WeightedTerm[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0);
}

/** Over the caller's chunks and the background together. */
function inverseFrequency(term: number, { chunks, frequencies }: TermStatistics): number {
  const all = chunks + PRIOR_CHUNKS;
  const holding = Math.min(all, (frequencies.get(term) ?? 0) + PRIOR_CHUNKS * backgroundRate(term));
  return Math.log1p((all - holding + 0.5) / (holding + 0.5));
}

function blendedLength({ chunks, totalLength }: TermStatistics): number {
  return (totalLength + PRIOR_CHUNKS * PRIOR_LENGTH) / (chunks + PRIOR_CHUNKS);
}
