import { leastOwnShare, type TermStatistics, type TermWeights } from '../../../../index/index.js';
import { termWeights, type WeightedTerm } from '../../../search/query-terms.js';
import { SMALL_OWNER, splitTerms } from './split-terms.js';

/** One way of asking the engine for chunks that hold terms. The passes of a plan run in order, until the answer is certain. */
export interface WordPass {
  readonly terms: TermWeights;
  /** The number of candidates that the pass takes. */
  readonly limit: number;
  /**
   * The highest own score of a chunk that this pass and all before it leave out, as in MaxScore (Turtle and Flood 1995). It
   * is the share of the query's weight in the terms that are left to later passes. It does not count terms that no pass
   * searches for, and it holds where no pass was cut off at its limit.
   */
  readonly upperBound: number;
}

export interface PlanRequest {
  readonly query: string;
  /** The number of candidates that are wanted. */
  readonly limit: number;
  readonly minScore: number;
}

const MIN_CANDIDATES = 128;
const MAX_CANDIDATES = 1_000;
/** Candidates of a pass for each that is wanted, since the engine's score is another. */
const CANDIDATES_A_HIT = 3;

/** Plans the passes that a search by words may need, cheapest first. The plan is pure. */
export function planWordPasses(request: PlanRequest, statistics: TermStatistics): readonly WordPass[] {
  const { first, all, deferredShare } = splitTerms(request.query, statistics);
  const limit = Math.max(CANDIDATES_A_HIT * request.limit, candidatesOf(statistics));
  const search = (terms: readonly WeightedTerm[], upperBound: number): WordPass[] =>
    terms.length > 0 ? [{ terms: termWeights(terms, statistics), limit, upperBound }] : [];
  const isSecondWorthIt = deferredShare > 0 && deferredShare > leastOwnShare(request.minScore);
  return [...search(first, deferredShare), ...(isSecondWorthIt ? search(all, 0) : [])];
}

/** The more chunks there are, the more of them have similar scores. */
function candidatesOf({ chunks }: TermStatistics): number {
  if (chunks < SMALL_OWNER.chunks) return SMALL_OWNER.candidates;
  return Math.max(MIN_CANDIDATES, Math.min(MAX_CANDIDATES, Math.ceil(Math.sqrt(chunks))));
}
