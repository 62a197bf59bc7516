import type { WeightedWords } from '../../ports.js';
import type { ChunkTable } from './chunk-table.js';
import type { Selection } from './selection.js';
import type { VectorMask } from './vectors.js';

/** Offers all slots of `mask` that hold one of the words, by the share of their weight that each covers. */
export function scanWords(
  { words: index, vectors }: Pick<ChunkTable, 'words' | 'vectors'>,
  mask: VectorMask,
  { words, selection }: { readonly words: WeightedWords; readonly selection: Selection },
): void {
  if (!vectors) return;
  const { segmentSize } = vectors;
  index.score(words, (slot, share) => {
    // As the selection keeps it: what is equal to its least goes by the tie.
    if (Math.fround(share) < selection.least) return;
    if (mask[Math.floor(slot / segmentSize)]?.[slot % segmentSize] !== 1) return;
    selection.offer(slot, share, vectors.tieOf(slot));
  });
}
