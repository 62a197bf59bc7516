import { backgroundRate } from '../text/background-terms.js';
import { analyzeQuery } from '../text/list-terms.js';
import {
  inverseDocumentFrequency,
  queryTermWeight,
  type TermStatistics,
  type TermWeights,
  type WordQuery,
} from '../../index/index.js';
import { sumOf } from '../at.js';

export interface WeightedTerm {
  readonly term: number;
  readonly weight: number;
}

/** The shipped background table counts as this many more chunks, each of this many terms. */
const PRIOR_CHUNKS = 30;
const PRIOR_LENGTH = 150;
/** A query as long as a text is ranked by this many of its heaviest terms, so that ranking takes milliseconds. */
const MAX_TERMS = 128;

/** Analyzes a query once, to be weighed by statistics of its terms that are known later. */
export function toWordQuery(query: string): WordQuery {
  const { counts } = analyzeQuery(query);
  return {
    terms: [...counts.keys()],
    weigh: (statistics) => termWeights(heaviestOf(counts, statistics), statistics),
  };
}

/** Returns the terms of a query that count, weighted by the statistics of the caller's chunks. */
export function weighQuery(query: string, statistics: TermStatistics): TermWeights {
  return toWordQuery(query).weigh(statistics);
}

/** Returns the terms of a query that count, heaviest first. */
export function heaviestTerms(query: string, statistics: TermStatistics): WeightedTerm[] {
  return heaviestOf(analyzeQuery(query).counts, statistics);
}

function heaviestOf(counts: ReadonlyMap<number, number>, statistics: TermStatistics): WeightedTerm[] {
  const weighted = Array.from(counts, ([term, count]) => ({
    term,
    weight: queryTermWeight(count, inverseFrequency(term, statistics)),
  }));
  return weighted.sort((a, b) => b.weight - a.weight || a.term - b.term).slice(0, MAX_TERMS);
}

/** Makes the form of terms that indexes and rankers read: terms ascending, weights as shares of their sum. */
export function termWeights(weighted: readonly WeightedTerm[], statistics: TermStatistics): TermWeights {
  const ascending = weighted.toSorted((a, b) => a.term - b.term);
  const total = weightOf(weighted);
  return {
    terms: Uint32Array.from(ascending, ({ term }) => term),
    weights: Float64Array.from(ascending, ({ weight }) => weight / total),
    averageLength: blendedLength(statistics),
  };
}

export function weightOf(terms: readonly WeightedTerm[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0);
}

/** Returns the inverse document frequency over the caller's chunks and the background table together. */
function inverseFrequency(term: number, { chunks, frequencies }: TermStatistics): number {
  const all = chunks + PRIOR_CHUNKS;
  const holding = Math.min(all, sumOf(frequencies, term) + PRIOR_CHUNKS * backgroundRate(term));
  return inverseDocumentFrequency(holding, all);
}

function blendedLength({ chunks, totalLength }: TermStatistics): number {
  return (totalLength + PRIOR_CHUNKS * PRIOR_LENGTH) / (chunks + PRIOR_CHUNKS);
}
