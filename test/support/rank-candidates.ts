import type { TermStatistics } from '../../src/index/index.js';
import { coveredShare, createSectionShare, scoreWithSection } from '../../src/index/scoring/score.js';
import { weighQuery, type Ranker } from '../../src/shared/search/ranking.js';

/** A chunk that is scored from what is stored of it, without an index. */
export interface RankedCandidate {
  /** Packed term counts of the chunk, as `packed-terms.ts` writes them. */
  readonly terms: Uint8Array;
  /** The terms of all chunks of its section, itself among them; itself alone by default. One list of several is scored once. */
  readonly section?: readonly Uint8Array[];
  readonly similarity: number;
}

/** Returns the score of each candidate, in their order: what the service answers, where an index finds all of them. */
export function rankCandidates(
  ranker: Ranker,
  query: string,
  { candidates, statistics }: { candidates: readonly RankedCandidate[]; statistics: TermStatistics },
): Float64Array {
  // The words of a query say nothing of a score by vectors alone, and benches rank many chunks.
  if (ranker.ranking === 'semantic') {
    const combine = ranker.combineFor([]);
    return Float64Array.from(candidates, ({ similarity }) => combine(similarity, 0));
  }
  const weights = weighQuery(query, statistics);
  const counts = new Uint8Array(weights.terms.length);
  const shareOf = rememberingShares(createSectionShare(weights));
  const scores = candidates.map(({ terms, section = [terms], similarity }) => {
    return { similarity, share: scoreWithSection(coveredShare(terms, weights, counts), shareOf(section)) };
  });
  const combine = ranker.combineFor(scores);
  return Float64Array.from(scores, ({ similarity, share }) => combine(similarity, share));
}

function rememberingShares(shareOf: (section: readonly Uint8Array[]) => number): typeof shareOf {
  const shares = new Map<readonly Uint8Array[], number>();
  return (section) => {
    const share = shares.get(section) ?? shareOf(section);
    shares.set(section, share);
    return share;
  };
}
