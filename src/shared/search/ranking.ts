import { at } from '../at.js';
import { coveredShare } from './bm25.js';
import { createSectionShare, foldedShare } from './section-score.js';
import { weighQuery, type TermStatistics } from './query-terms.js';

export interface RankedCandidate {
  /** Packed term counts of the chunk, as `packed-terms.ts` writes them. */
  readonly terms: Uint8Array;
  /** The terms of all chunks of its section, itself among them; itself alone by default. See `section-score.ts`. */
  readonly section?: readonly Uint8Array[];
  readonly similarity: number;
}

/** What scores candidates: their vectors, the query's terms that they hold, or both. */
export const RANKINGS = ['semantic', 'lexical', 'hybrid'] as const;
export type Ranking = (typeof RANKINGS)[number];

/** Scores candidates. It is pure: a score depends only on the query, the chunk and the statistics. */
export interface Ranker {
  readonly ranking: Ranking;
  /** Makes the score of the similarity of the vectors and the score by words. It does not read what it does not rank by. */
  combine(similarity: number, share: number): number;
  /** Returns one score in [0, 1] for each candidate, in their order. */
  rank(query: string, candidates: readonly RankedCandidate[], statistics: TermStatistics): Float64Array;
}

/** The score is the similarity of the vectors. */
export function createSemanticRanker(): Ranker {
  return {
    ranking: 'semantic',
    combine: clamp,
    rank: (_query, candidates) => Float64Array.from(candidates, ({ similarity }) => clamp(similarity)),
  };
}

/** The score is the share of the query's weight that a chunk and its section cover, see `bm25.ts` and `section-score.ts`. */
export function createLexicalRanker(): Ranker {
  return {
    ranking: 'lexical',
    combine: (_similarity, share) => share,
    rank(query, candidates, statistics) {
      const weights = weighQuery(query, statistics);
      const counts = new Uint8Array(weights.terms.length);
      const shareOf = createSectionShare(weights);
      return Float64Array.from(candidates, ({ terms, section = [terms] }) =>
        foldedShare(coveredShare(terms, weights, counts), shareOf(section)),
      );
    },
  };
}

/**
 * The score is a weighted sum of the other two scores (a convex combination: Bruch, Gai and Ingber,
 * "An Analysis of Fusion Functions for Hybrid Retrieval", 2023). Both are in [0, 1] whatever the
 * other candidates are, so that nothing is scaled by these.
 *
 * @param weight the share of the similarity, from 0 to 1
 */
export function createHybridRanker(weight: number): Ranker {
  const lexical = createLexicalRanker();
  const combine = (similarity: number, share: number) =>
    clamp(weight * clamp(similarity) + (1 - weight) * share);
  return {
    ranking: 'hybrid',
    combine,
    rank(query, candidates, statistics) {
      const shares = lexical.rank(query, candidates, statistics);
      return shares.map((share, i) => combine(at(candidates, i).similarity, share));
    },
  };
}

/** Returns the ranker that a request asks for, or the standard one when it does not say. */
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

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
