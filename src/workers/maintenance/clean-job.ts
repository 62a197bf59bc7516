import { BATCH_SIZE, batchNumbers } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import { isHeld } from '../../shared/term-statistics/count-steps.js';
import type { TermStatisticsStore } from '../../shared/term-statistics/term-statistics.js';
import type { Outcome } from '../lane-worker.js';
import { endless, type AfterStep } from '../job-turn.js';

interface Dependencies {
  readonly chunks: Chunks;
  readonly statistics: TermStatisticsStore;
}

/**
 * Removes a discarded generation from its owner's term statistics and unlinks its chunks, batch by batch. Each step checks
 * that the generation is still discarded and records its progress in it, because Redis may restart with older data in
 * which the generation is published, or complete again.
 * @param afterStep called after each batch
 */
export function createCleanJob(parts: Dependencies) {
  const { chunks } = parts;
  return async (generation: string, afterStep: AfterStep = endless): Promise<Outcome> => {
    for (;;) {
      const { cleaned, batches, chunks: count } = await chunks.cleaning(generation);
      if (cleaned < batches) {
        if (!(await cleanBatch(parts, generation, { batch: cleaned, count }))) return 'stale';
        afterStep();
        continue;
      }
      // A generation that an earlier version left unfinished has no count of its chunks, which are numbered from 0.
      const left = await chunks.unlink(generation, batchNumbers(cleaned, (cleaned + 1) * BATCH_SIZE));
      if (left === null) return 'stale';
      if (left > 0) await chunks.noteCleaned(generation, cleaned);
      else if (await chunks.forget(generation, cleaned)) return 'done';
    }
  };
}

/** Resolves with false for a generation that is not, or no longer, discarded. */
async function cleanBatch(
  { chunks, statistics }: Dependencies,
  generation: string,
  { batch, count }: { readonly batch: number; readonly count: number },
): Promise<boolean> {
  if (isHeld(await statistics.state({ generation, batch }))) {
    const counted = await chunks.readTerms(generation, batchNumbers(batch, count));
    if (!(await statistics.forget({ generation, batch, chunks: counted }))) return false;
  }
  const numbers = batchNumbers(batch, (batch + 1) * BATCH_SIZE);
  if ((await chunks.unlink(generation, numbers)) === null) return false;
  await chunks.noteCleaned(generation, batch);
  return true;
}
