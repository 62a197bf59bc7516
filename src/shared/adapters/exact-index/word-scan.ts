import type { WeightedWords } from '../../ports.js';
import { coveredShare } from '../../ranking.js';
import type { ChunkTable } from './chunk-table.js';
import type { Selection } from './selection.js';
import type { VectorMask } from './vectors.js';

/** Offers all slots of `mask` that hold one of the words, by the share of their weight that each covers. */
export function scanWords(
  { terms, vectors }: Pick<ChunkTable, 'terms' | 'vectors'>,
  mask: VectorMask,
  { words, selection }: { readonly words: WeightedWords; readonly selection: Selection },
): void {
  if (!vectors) return;
  const counts = new Uint8Array(words.terms.length);
  for (const [index, allowed] of mask.entries()) {
    const base = index * vectors.segmentSize;
    for (let place = allowed.indexOf(1); place >= 0; place = allowed.indexOf(1, place + 1)) {
      const slot = base + place;
      const packed = terms.read(slot);
      const share = packed ? coveredShare(packed, words, counts) : 0;
      if (share > 0) selection.offer(slot, share, vectors.tieOf(slot));
    }
  }
}
