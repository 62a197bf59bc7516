import type { TermWeights } from '../ports.js';
import { termWeights, type TermStatistics, type WeightedTerm } from './query-terms.js';
import type { Ranking } from './ranking.js';
import { SMALL_OWNER, splitTerms } from './split-terms.js';

/** One way of asking the index for candidates. The passes of a plan run one after the other, until a page is good enough. */
export type Pass = NearestPass | TermsPass | HybridPass;

interface PassBounds {
  /** Candidates to take: the top of its list. */
  readonly limit: number;
  /**
   * The score that no chunk reaches which this pass and those before it leave out, as MaxScore has it (Turtle and Flood
   * 1995): the share of the query's weight that is in the terms left to later passes. It does not count terms that no
   * pass searches for, and it holds where no pass was cut off at its limit.
   */
  readonly upperBound: number;
}

/** The chunks nearest to the query by vector. */
interface NearestPass extends PassBounds {
  readonly kind: 'nearest';
}

/** The chunks that score highest by the terms that they hold. */
interface TermsPass extends PassBounds {
  readonly kind: 'terms';
  readonly terms: TermWeights;
}

/** Both at once; `limit` is that of the nearest. */
interface HybridPass extends PassBounds {
  readonly kind: 'hybrid';
  /** Each is searched only when those before it found fewer chunks than `termsLimit`. */
  readonly terms: readonly TermWeights[];
  readonly termsLimit: number;
}

export interface PlanRequest {
  readonly query: string;
  /** Most hits on the page. */
  readonly k: number;
  readonly minScore: number;
  /** Whether postings of common terms are read in the first pass, too, because the index reads them quickly. */
  readonly hasCheapPostings: boolean;
}

const MIN_CANDIDATES = 128;
const MAX_CANDIDATES = 1_000;
/** Candidates beyond `k`: an engine cuts off equal ones anywhere, where ties go by document and number. */
const SPARE = 16;
/** From 13 on the Query Engine compares with every vector of up to 300,000 rather than walk its graph. */
const MIN_NEAREST = 12;

/**
 * The passes that a search may need, cheapest first. Pure: what passes find decides only how many of them run.
 * A ranking by terms alone takes the nearest by vector only to fill up what the terms leave open on a page.
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
    // What holds the terms and is near as well is among the nearest.
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

/** The nearest of which terms decide the order. */
function rerankedCandidates(k: number): number {
  return Math.max(400, 4 * k);
}

/** The more chunks there are, the more score alike. */
function lexicalCandidates({ chunks }: TermStatistics): number {
  if (chunks < SMALL_OWNER.chunks) return SMALL_OWNER.candidates;
  return Math.max(MIN_CANDIDATES, Math.min(MAX_CANDIDATES, Math.ceil(Math.sqrt(chunks))));
}
