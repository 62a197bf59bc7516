import type { TermWeights } from '../../../ports.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { VectorMask } from '../tables/vectors.js';
import type { Selection } from './selection.js';

/** Offers every slot of `mask` that holds a term of the query, scored by BM25. */
export function scanTerms(
  { postings, vectors }: Pick<ChunkTable, 'postings' | 'vectors'>,
  mask: VectorMask,
  { query, selection }: { readonly query: TermWeights; readonly selection: Selection },
): void {
  if (!vectors) return;
  const { segmentSize } = vectors;
  postings.score(query, (slot, share) => {
    // The comparison has the precision of the selection, where the tie key decides between equal scores.
    if (Math.fround(share) < selection.minScore) return;
    if (mask[Math.floor(slot / segmentSize)]?.[slot % segmentSize] !== 1) return;
    selection.offer(slot, share, vectors.tieOf(slot));
  });
}
