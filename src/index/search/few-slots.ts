import type { IndexedDocument } from '../tables/document.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { Mask } from '../masks/working-mask.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links'>;
  /** By document slot. */
  readonly documents: readonly (Pick<IndexedDocument, 'firstChunk'> | undefined)[];
}

/** Scoring a chunk by itself takes as long as reading this many postings. */
const CHUNKS_A_SCORE = 16;

/**
 * Returns the slots of all chunks of a mask, where they are so few among the chunks of the partitions that each is scored
 * by itself; null otherwise. So a search of a caller who may read a single document of somebody who has a million is not
 * slower for that.
 *
 * @param available the number of chunks that the partitions hold
 */
export function fewSlots(
  { chunks: { links }, documents }: Tables,
  mask: Mask | null,
  available: number,
): readonly number[] | null {
  if (!mask?.few) return null;
  const slots: number[] = [];
  for (const documentSlot of mask.few) {
    for (let slot = documents[documentSlot]?.firstChunk ?? -1; slot >= 0; slot = links.after(slot)) {
      if (slots.push(slot) * CHUNKS_A_SCORE > available) return null;
    }
  }
  return slots;
}
