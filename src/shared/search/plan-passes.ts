import type { TermWeights } from '../ports.js';
import { termWeights, type TermStatistics, type WeightedTerm } from './query-terms.js';
import type { Ranking } from './ranking.js';
import { SMALL_OWNER, splitTerms } from './split-terms.js';

/** One way of asking the index for candidates. The passes of a plan run in order, until the page is good enough. */
export type Pass = NearestPass | TermsPass | HybridPass;

interface PassBounds {
  /** How many candidates the pass takes. */
  readonly limit: number;
  /**
   * The highest score that a chunk can have which this pass and those before it leave out, as in MaxScore (Turtle and
   * Flood 1995). It is the share of the query's weight in the terms that are left to later passes. It does not count
   * terms that no pass searches for, and it holds where no pass was cut off at its limit.
   */
  readonly upperBound: number;
}

/** Finds the chunks nearest to the query by vector. */
interface NearestPass extends PassBounds {
  readonly kind: 'nearest';
}

/** Finds the chunks that score highest by their terms. */
interface TermsPass extends PassBounds {
  readonly kind: 'terms';
  readonly terms: TermWeights;
}

/** Does both at once; `limit` is for the nearest chunks. */
interface HybridPass extends PassBounds {
  readonly kind: 'hybrid';
  /** Each list is searched only when those before it found fewer chunks than `termsLimit`. */
  readonly terms: readonly TermWeights[];
  readonly termsLimit: number;
}

export interface PlanRequest {
  readonly query: string;
  /** How many hits the page has at most. */
  readonly k: number;
  readonly minScore: number;
  /** Whether the first pass also reads the postings of common terms, because the index reads them quickly. */
  readonly hasCheapPostings: boolean;
}

const MIN_CANDIDATES = 128;
const MAX_CANDIDATES = 1_000;
/** Candidates beyond `k`: an engine cuts off equal ones arbitrarily, where ties go by document and number. */
const SPARE = 16;
/** With more, the Query Engine compares with every vector of up to 300,000 instead of walking its graph. */
const MIN_NEAREST = 12;

/**
 * Plans the passes that a search may need, cheapest first. The plan is pure: what passes find only decides how many of
 * them run. A ranking by terms alone takes the nearest by vector only to fill what the terms leave open on a page.
 */
export function planPasses(
  ranking: Ranking,
  request: PlanRequest,
  statistics: TermStatistics,
): readonly Pass[] {
  switch (ranking) {
    case 'semantic':
      return [planNearest(semanticCandidates(request.k))];
    case 'lexical':
      return planLexical(request, statistics);
    case 'hybrid':
      return [planHybrid(request, statistics)];
  }
}

function planLexical(request: PlanRequest, statistics: TermStatistics): Pass[] {
  const { k, minScore } = request;
  const { first, all, deferredShare, unsearchedShare } = splitTerms(request, statistics);
  const limit = Math.max(4 * k, lexicalCandidates(statistics));
  const search = (terms: readonly WeightedTerm[], upperBound: number): TermsPass[] =>
    terms.length > 0 ? [{ kind: 'terms', terms: termWeights(terms, statistics), limit, upperBound }] : [];

  const isSecondWorthIt = deferredShare > 0 && deferredShare > minScore;
  const leftOut = unsearchedShare + (isSecondWorthIt ? 0 : deferredShare);
  return [
    ...search(first, deferredShare),
    ...(isSecondWorthIt ? search(all, 0) : []),
    ...(minScore <= 0 || leftOut > minScore ? [planNearest(rerankedCandidates(k))] : []),
  ];
}

function planHybrid(request: PlanRequest, statistics: TermStatistics): HybridPass {
  const { first, all, deferredShare } = splitTerms(request, statistics);
  const lists = deferredShare > 0 ? [first, all] : [all];
  return {
    kind: 'hybrid',
    limit: rerankedCandidates(request.k),
    // A chunk that holds the terms and is also near is found among the nearest.
    termsLimit: Math.max(50, request.k + SPARE),
    terms: lists.filter(({ length }) => length > 0).map((terms) => termWeights(terms, statistics)),
    upperBound: 0,
  };
}

function planNearest(limit: number): NearestPass {
  return { kind: 'nearest', limit, upperBound: 0 };
}

function semanticCandidates(k: number): number {
  return k + 2 <= MIN_NEAREST ? MIN_NEAREST : k + SPARE;
}

/** How many of the nearest are taken when terms decide their order. */
function rerankedCandidates(k: number): number {
  return Math.max(400, 4 * k);
}

/** The more chunks there are, the more of them have similar scores. */
function lexicalCandidates({ chunks }: TermStatistics): number {
  if (chunks < SMALL_OWNER.chunks) return SMALL_OWNER.candidates;
  return Math.max(MIN_CANDIDATES, Math.min(MAX_CANDIDATES, Math.ceil(Math.sqrt(chunks))));
}
