import { BATCH_SIZE, batchCount, batchNumbers, type Chunks } from '../shared/chunks.js';
import type { TermStatisticsStore } from '../shared/term-statistics.js';
import type { Outcome } from './worker.js';

/**
 * Takes a discarded generation out of its owner's term statistics and unlinks its chunks, batch by batch. Before each it
 * asks whether that is still wanted: Redis may have come back with older data, in which the generation serves.
 */
export function createCleanJob({ chunks, statistics }: { chunks: Chunks; statistics: TermStatisticsStore }) {
  return async (generation: string): Promise<Outcome> => {
    const known = await chunks.generation(generation);
    const batches = batchCount(known?.chunks ?? 0);
    const counted = await statistics.countedFor(generation, batches);
    // An attempt that died while writing has no count: its chunks lie in a row from 0.
    for (let batch = 0, removed = 1; batch < batches || removed > 0; batch += 1) {
      if (!(await chunks.isGarbage(generation))) return 'stale';
      const numbers = Array.from({ length: BATCH_SIZE }, (_, i) => batch * BATCH_SIZE + i);
      const owner = counted[batch];
      if (owner) {
        const held = batchNumbers(batch, known?.chunks ?? 0);
        const terms = (await chunks.readTerms(generation, held)).filter((packed) => packed !== null);
        if (!(await statistics.forgetGarbage({ generation, batch, terms }, owner))) return 'stale';
      }
      const unlinked = await chunks.unlink(generation, numbers);
      if (unlinked === null) return 'stale';
      removed = unlinked;
    }
    await chunks.forget(generation);
    return 'done';
  };
}
