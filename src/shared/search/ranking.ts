/** What scores candidates: their vectors, the query's terms that they hold, or both. */
export const RANKINGS = ['semantic', 'lexical', 'hybrid'] as const;
export type Ranking = (typeof RANKINGS)[number];

/** Scores candidates. It is pure: the score of a chunk does not depend on the other candidates. */
export interface Ranker {
  readonly ranking: Ranking;
  /**
   * Makes the score of a chunk, in [0, 1], of the similarity of the vectors and the score by words. It does not read what it
   * does not rank by.
   */
  combine(similarity: number, share: number): number;
}

/** The score is the similarity of the vectors. */
export function createSemanticRanker(): Ranker {
  return { ranking: 'semantic', combine: clamp };
}

/** The score is the share of the query's weight that a chunk and its section cover, see `bm25.ts` and `section-score.ts`. */
export function createLexicalRanker(): Ranker {
  return { ranking: 'lexical', combine: (_similarity, share) => share };
}

/**
 * The score is a weighted sum of the other two scores (a convex combination: Bruch, Gai and Ingber,
 * "An Analysis of Fusion Functions for Hybrid Retrieval", 2023). Both are in [0, 1] whatever the
 * other candidates are, so that nothing is scaled by these.
 *
 * @param weight the share of the similarity, from 0 to 1
 */
export function createHybridRanker(weight: number): Ranker {
  return {
    ranking: 'hybrid',
    combine: (similarity, share) => clamp(weight * clamp(similarity) + (1 - weight) * share),
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
