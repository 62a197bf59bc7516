import { heaviestTerms, weightOf, type TermStatistics, type WeightedTerm } from './query-terms.js';

/** Terms that postings are searched for: an engine reads all chunks of each. */
const MAX_SEARCHED_TERMS = 64;
/** An engine reads the postings of so many chunks in about the time that a further pass takes. */
const CHEAP_POSTINGS = 1_000;
/** Common terms are left to the second pass as long as they have no more than this share of the query's weight together. */
const MAX_DEFERRED_SHARE = 0.15;
/**
 * The same for terms in more than half of the chunks: where nearly all have one and some were deleted, the engine takes
 * it for the rarest of all (its inverse document frequency underflows in 8.0).
 */
const MAX_DEFERRED_SHARE_OF_HALF = 0.2;
/** A caller who owns fewer chunks gets so many candidates, because it is not known how much that caller may read. */
export const SMALL_OWNER = { chunks: 1_000, candidates: 200 };

interface SplitTerms {
  /** All terms that postings are searched for. */
  readonly all: readonly WeightedTerm[];
  /** Those of the first pass. */
  readonly first: readonly WeightedTerm[];
  /** Share of the query's weight that the first pass leaves to the second. */
  readonly deferredShare: number;
  /** Share of the query's weight that no pass searches for. */
  readonly unsearchedShare: number;
}

/** Defers the commonest terms, whose postings cost most to read, as long as they weigh little. */
export function splitTerms(
  { query, hasCheapPostings }: { readonly query: string; readonly hasCheapPostings: boolean },
  statistics: TermStatistics,
): SplitTerms {
  const counted = heaviestTerms(query, statistics);
  const all = counted.slice(0, MAX_SEARCHED_TERMS);
  const total = weightOf(counted);
  const unsearched = counted.slice(MAX_SEARCHED_TERMS);
  const unsearchedShare = unsearched.length > 0 ? weightOf(unsearched) / total : 0;
  if (hasCheapPostings) return { all, first: all, deferredShare: 0, unsearchedShare };

  const chunksOf = ({ term }: WeightedTerm) => statistics.frequencies.get(term) ?? 0;
  const deferred = new Set<WeightedTerm>();
  let deferredShare = 0;
  for (const each of all.toSorted((a, b) => chunksOf(b) - chunksOf(a))) {
    const share = deferredShare + each.weight / total;
    if (share > maxDeferredShare(chunksOf(each), statistics.chunks)) break;
    deferredShare = share;
    deferred.add(each);
  }
  return { all, first: all.filter((each) => !deferred.has(each)), deferredShare, unsearchedShare };
}

function maxDeferredShare(holding: number, chunks: number): number {
  // Where there are fewer chunks, all of them are candidates, in whatever order the engine has them.
  if (chunks > SMALL_OWNER.candidates && holding > chunks / 2) return MAX_DEFERRED_SHARE_OF_HALF;
  return holding > CHEAP_POSTINGS ? MAX_DEFERRED_SHARE : 0;
}
