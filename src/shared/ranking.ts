import type { CandidatePart, WeightedWords } from './ports.js';
import {
  candidatesAmong,
  soughtWords,
  weighQuery,
  type SoughtWords,
  type TermStatistics,
} from './query-words.js';
import { analyzeText, packedLength, readCounts } from './terms.js';

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
  /** What to look for, one after the other until nothing better can be missing; none for a query without a word. */
  queries(query: string, statistics: TermStatistics): readonly SoughtWords[];
  /** Candidates to take so that the best `k` are among them: of more chunks more score alike. */
  candidateCount(k: number, statistics: TermStatistics): number;
}

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

/** Saturation by repetition in the chunk, and of it by the chunk's length. */
const K1 = 1;
const B = 0.75;

/**
 * BM25 (Robertson and Zaragoza 2009, inverse document frequency of Lucene), divided by what a chunk that covers the
 * query wholly would get: the share of the query's informative weight that the chunk covers.
 */
export function createLexicalRanker(): Ranker {
  return {
    candidateCount: (k) => Math.max(400, 4 * k),
    reads: ['terms'],
    byWords: {
      queries: soughtWords,
      candidateCount: (k, statistics) => Math.max(4 * k, candidatesAmong(statistics)),
    },
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
  const damping = lengthDamping(packedLength(packed), averageLength);
  readCounts(packed, terms, counts);
  let share = 0;
  for (let at = 0; at < terms.length; at += 1) {
    const count = counts[at] ?? 0;
    if (count > 0) share += ((weights[at] ?? 0) * count) / (count + damping);
  }
  return clamp(share);
}

/** What a term's count is held against: the longer the chunk the more. */
export function lengthDamping(length: number, averageLength: number): number {
  return K1 * (1 - B + (B * length) / averageLength);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
