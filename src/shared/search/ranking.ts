import type { CallOptions } from '../ports.js';
import { analyzeQuery } from '../text/analyze-text.js';

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
 * @param floor the similarity that unrelated texts have with the model: what counts is what is above it
 */
export function createHybridRanker(weight: number, floor = 0): Ranker {
  return {
    ranking: 'hybrid',
    combine: (similarity, share) =>
      clamp(weight * clamp((similarity - floor) / (1 - floor)) + (1 - weight) * share),
  };
}

/**
 * The share of the similarity in a hybrid score. The more terms a query has, the more its words say, and the less a model tells
 * them apart: measured on 20 collections with two models, see docs/quality.md.
 */
function similarityWeight(query: string): number {
  return HALF_AT_TERMS / (HALF_AT_TERMS + analyzeQuery(query).counts.size);
}

/** A query of so many different terms is ranked half by them. */
const HALF_AT_TERMS = 10;

/** What is to be ranked. */
interface RankingRequest {
  readonly ranking?: Ranking | undefined;
  readonly query: string;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the ranker that a request asks for, or the standard one when it does not say. @throws UnavailableError */
export type ChooseRanker = (request: RankingRequest) => Ranker | Promise<Ranker>;

export function createRankers(options: {
  readonly standard: Ranking;
  /** The share of the vectors in every hybrid score; `auto` for one by the number of terms, see `similarityWeight`. */
  readonly hybridWeight: number | 'auto';
  /** Resolves with the similarity that unrelated texts have with the model. */
  readonly floor: (options: CallOptions) => Promise<number>;
}): ChooseRanker {
  const semantic = createSemanticRanker();
  const lexical = createLexicalRanker();
  const { standard, hybridWeight, floor } = options;
  return ({ ranking = standard, query, signal }) => {
    switch (ranking) {
      case 'semantic':
        return semantic;
      case 'lexical':
        return lexical;
      case 'hybrid':
        return hybridWeight === 'auto'
          ? floor({ signal }).then((least) => createHybridRanker(similarityWeight(query), least))
          : createHybridRanker(hybridWeight);
    }
  };
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
