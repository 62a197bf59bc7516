import type { TermWeights } from '../../../ports.js';
import { createSectionShare, foldedShare } from '../../../search/section-score.js';
import type { ChunkTable } from '../tables/chunk-table.js';

/** Returns a function that makes a chunk's score of what it scores by itself. Each section is read once. */
export function createSectionScores(
  { links, terms }: Pick<ChunkTable, 'links' | 'terms'>,
  query: TermWeights,
): (slot: number, own: number) => number {
  const shareOf = createSectionShare(query);
  /** By the slot of the first chunk. */
  const known = new Map<number, number>();
  const read = (first: number): Uint8Array[] => {
    const chunks: Uint8Array[] = [];
    for (let slot = first; slot >= 0 && links.sectionOf(slot) === first; slot = links.after(slot)) {
      const packed = terms.read(slot);
      if (packed) chunks.push(packed);
    }
    return chunks;
  };
  const isAlone = (slot: number, first: number): boolean => {
    const next = links.after(slot);
    return slot === first && (next < 0 || links.sectionOf(next) !== first);
  };
  return (slot, own) => {
    const first = links.sectionOf(slot);
    // A chunk without any of the words scores 0 whatever is around it, and one alone scores what it does by itself.
    if (own === 0 || isAlone(slot, first)) return own;
    let share = known.get(first);
    if (share === undefined) {
      share = shareOf(read(first));
      known.set(first, share);
    }
    return foldedShare(own, share);
  };
}
