import type { TermStatistics } from '../../../../index/index.js';
import { heaviestTerms, weightOf, type WeightedTerm } from '../../../search/query-terms.js';

/** Postings are searched for this many terms, since an engine reads all chunks of each. */
const MAX_SEARCHED_TERMS = 64;
/** An engine reads the postings of this many chunks in about the time that another pass takes. */
const CHEAP_POSTINGS = 1_000;
/** Common terms are left to the second pass while they have at most this share of the query's weight together. */
const MAX_DEFERRED_SHARE = 0.15;
/**
 * The same share for terms in more than half of the chunks. Where nearly all chunks have a term and some were deleted,
 * version 8.0 of the engine takes it for the rarest of all, because its inverse document frequency underflows.
 */
const MAX_DEFERRED_SHARE_OF_HALF = 0.2;
/** A caller who owns fewer chunks gets this many candidates, because it is not known how much that caller may read. */
export const SMALL_OWNER = { chunks: 1_000, candidates: 200 };

interface SplitTerms {
  /** All terms that are searched for. */
  readonly all: readonly WeightedTerm[];
  /** The terms of the first pass. */
  readonly first: readonly WeightedTerm[];
  /** The share of the query's weight that the first pass leaves to the second. */
  readonly deferredShare: number;
}

/** Leaves the most common terms, whose postings cost most to read, to the second pass while they weigh little. */
export function splitTerms(query: string, statistics: TermStatistics): SplitTerms {
  const counted = heaviestTerms(query, statistics);
  const all = counted.slice(0, MAX_SEARCHED_TERMS);
  const total = weightOf(counted);
  const chunksOf = ({ term }: WeightedTerm) => statistics.frequencies.get(term) ?? 0;
  const deferred = new Set<WeightedTerm>();
  let deferredShare = 0;
  for (const each of all.toSorted((a, b) => chunksOf(b) - chunksOf(a))) {
    const share = deferredShare + each.weight / total;
    if (share > maxDeferredShare(chunksOf(each), statistics.chunks)) break;
    deferredShare = share;
    deferred.add(each);
  }
  return { all, first: all.filter((each) => !deferred.has(each)), deferredShare };
}

function maxDeferredShare(holding: number, chunks: number): number {
  // With fewer chunks all of them are candidates, in whatever order the engine returns them.
  if (chunks > SMALL_OWNER.candidates && holding > chunks / 2) return MAX_DEFERRED_SHARE_OF_HALF;
  return holding > CHEAP_POSTINGS ? MAX_DEFERRED_SHARE : 0;
}
