import { backgroundRate } from './background-terms.js';
import type { CandidatePart, WeightedWords } from './ports.js';
import { analyzeText, packedLength, readCounts } from './terms.js';

/** Counts over the chunks of the caller's own documents; `totalLength` sums the lengths of their terms. */
export interface TermStatistics {
  readonly chunks: number;
  readonly totalLength: number;
  /** Chunks that hold a term; terms that none holds may be missing. */
  readonly frequencies: ReadonlyMap<number, number>;
}

export interface RankedCandidate {
  /** Packed term counts of the chunk, as `terms.ts` writes them. */
  readonly terms: Uint8Array;
  readonly similarity: number;
}

/** How candidates are scored: by their vectors, by the query's words that they hold, or by both. */
export const RANKINGS = ['semantic', 'lexical', 'hybrid'] as const;
export type Ranking = (typeof RANKINGS)[number];

/** Scores what the index proposes. Pure: a score depends on the query, the chunk and the statistics alone. */
export interface Ranker {
  /** Candidates to take from the index so that the best `k` are among them. */
  candidateCount(k: number): number;
  /** What `rank` reads of candidates; with terms also their statistics. */
  readonly reads: readonly CandidatePart[];
  /** How to find candidates by the words that they hold; null where words count for nothing. */
  readonly byWords: WordCandidates | null;
  /** Terms whose statistics `rank` reads. */
  queryTerms(query: string): readonly number[];
  /** One score in [0, 1] for each candidate, in their order. */
  rank(query: string, candidates: readonly RankedCandidate[], statistics: TermStatistics): Float64Array;
}

export interface WordCandidates {
  /**
   * Words of a query to look for: those that tell chunks apart, then, where these are fewer, as many as can be looked
   * for; none for a query without a word.
   */
  queries(query: string, statistics: TermStatistics): readonly WeightedWords[];
  /** Candidates to take so that the best `k` are among them. */
  candidateCount(k: number): number;
}

export const noStatistics: TermStatistics = { chunks: 0, totalLength: 0, frequencies: new Map() };

/** Candidates beyond `k`: an engine cuts off equal ones anywhere, where ties go by document and number. */
const SPARE = 16;
/** From 13 on the Query Engine compares with every vector of up to 300,000 rather than walk its graph. */
const FEWEST = 12;

/** The similarity of the vectors is the score. */
export function createSemanticRanker(): Ranker {
  return {
    candidateCount: (k) => (k + 2 <= FEWEST ? FEWEST : k + SPARE),
    reads: ['similarity'],
    byWords: null,
    queryTerms: () => [],
    rank: (_query, candidates) => Float64Array.from(candidates, ({ similarity }) => clamp(similarity)),
  };
}

/** Saturation by repetition in the chunk, of it by the chunk's length, and saturation by repetition in the query. */
const K1 = 1;
const B = 0.75;
const K3 = 1;
/** The shipped background counts like this many chunks of the caller's own, of this many terms each. */
const PRIOR_CHUNKS = 30;
const PRIOR_LENGTH = 150;

/**
 * BM25 (Robertson and Zaragoza 2009, inverse document frequency of Lucene), divided by what a chunk that covers the
 * query wholly would get: the share of the query's informative weight that the chunk covers.
 */
export function createLexicalRanker(): Ranker {
  return {
    candidateCount: (k) => Math.max(400, 4 * k),
    reads: ['terms'],
    byWords: { queries: soughtWords, candidateCount: (k) => Math.max(200, 4 * k) },
    queryTerms: (query) => [...analyzeText(query).counts.keys()],
    rank(query, candidates, statistics) {
      const words = weighQuery(query, statistics);
      const counts = new Uint8Array(words.terms.length);
      const scores = new Float64Array(candidates.length);
      let at = 0;
      for (const { terms } of candidates) {
        scores[at] = coveredShare(terms, words, counts);
        at += 1;
      }
      return scores;
    },
  };
}

/**
 * A weighted sum of the scores of the other two (a convex combination, Bruch, Gai and Ingber 2023): both are in [0, 1]
 * whatever else is proposed, so that nothing is scaled by the query's other candidates.
 *
 * @param weight share of the similarity, from 0 to 1
 */
export function createHybridRanker(weight: number): Ranker {
  const [lexical, semantic] = [createLexicalRanker(), createSemanticRanker()];
  return {
    ...lexical,
    reads: ['similarity', 'terms'],
    // What holds the words and is near as well is among the nearest.
    byWords: { queries: soughtWords, candidateCount: (k) => Math.max(50, k + SPARE) },
    rank(query, candidates, statistics) {
      const words = lexical.rank(query, candidates, statistics);
      const meanings = semantic.rank(query, candidates, statistics);
      return words.map((share, i) => clamp(weight * (meanings[i] ?? 0) + (1 - weight) * share));
    },
  };
}

/** The ranker that a request asks for, or the standard one where it asks for none. */
export type ChooseRanker = (ranking: Ranking | undefined) => Ranker;

export function createRankers(options: {
  readonly standard: Ranking;
  readonly hybridWeight: number;
}): ChooseRanker {
  const rankers: Readonly<Record<Ranking, Ranker>> = {
    semantic: createSemanticRanker(),
    lexical: createLexicalRanker(),
    hybrid: createHybridRanker(options.hybridWeight),
  };
  return (ranking = options.standard) => rankers[ranking];
}

/** Of a query as long as a text only its weightiest terms count, so that ranking takes milliseconds. */
const MOST_TERMS = 128;
/** Of those fewer are looked for: an engine reads all chunks of each. */
const MOST_SOUGHT = 64;
/**
 * A term that is in more of the chunks tells little and costs most; and where nearly all have it and some were deleted,
 * the engine takes it for the rarest of all (its inverse document frequency underflows in 8.0).
 */
const COMMON_SHARE = 1 / 2;
/** Of a query's weight: common terms that have more together are looked for with the others. */
const MOST_LEFT_OUT = 0.2;

function weighQuery(query: string, statistics: TermStatistics): WeightedWords {
  return weightedWords(heaviestTerms(query, statistics).slice(0, MOST_TERMS), statistics);
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

interface WeightedTerm {
  readonly term: number;
  readonly weight: number;
}

function heaviestTerms(query: string, statistics: TermStatistics): WeightedTerm[] {
  const weighted = Array.from(analyzeText(query).counts, ([term, count]) => ({
    term,
    weight: (count / (count + K3)) * inverseFrequency(term, statistics),
  }));
  return weighted.sort((a, b) => b.weight - a.weight || a.term - b.term);
}

function soughtWords(query: string, statistics: TermStatistics): WeightedWords[] {
  const all = heaviestTerms(query, statistics);
  const telling = all.filter(({ term }) => shareOfChunks(term, statistics) <= COMMON_SHARE);
  const isTelling = telling.length < all.length && weightOf(telling) >= (1 - MOST_LEFT_OUT) * weightOf(all);
  return [...(isTelling ? [telling] : []), all]
    .filter(({ length }) => length > 0)
    .map((terms) => weightedWords(terms.slice(0, MOST_SOUGHT), statistics));
}

function weightOf(terms: readonly WeightedTerm[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0);
}

function inverseFrequency(term: number, statistics: TermStatistics): number {
  const all = statistics.chunks + PRIOR_CHUNKS;
  const holding = all * shareOfChunks(term, statistics);
  return Math.log1p((all - holding + 0.5) / (holding + 0.5));
}

/** Of the caller's chunks and the background together, how many hold a term: from 0 to 1. */
function shareOfChunks(term: number, { chunks, frequencies }: TermStatistics): number {
  const all = chunks + PRIOR_CHUNKS;
  return Math.min(all, (frequencies.get(term) ?? 0) + PRIOR_CHUNKS * backgroundRate(term)) / all;
}

function blendedLength({ chunks, totalLength }: TermStatistics): number {
  return (totalLength + PRIOR_CHUNKS * PRIOR_LENGTH) / (chunks + PRIOR_CHUNKS);
}

/**
 * Share of the words' weight that a chunk covers, from 0 to 1.
 *
 * @param counts room for as many as there are words, to be used again
 */
export function coveredShare(
  packed: Uint8Array,
  { terms, weights, averageLength }: WeightedWords,
  counts: Uint8Array,
): number {
  const damping = K1 * (1 - B + (B * packedLength(packed)) / averageLength);
  readCounts(packed, terms, counts);
  let share = 0;
  for (let at = 0; at < terms.length; at += 1) {
    const count = counts[at] ?? 0;
    if (count > 0) share += ((weights[at] ?? 0) * count) / (count + damping);
  }
  return clamp(share);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
