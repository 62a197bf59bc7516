import { batchCount, batchNumbers, BATCH_SIZE, inGroups } from './batches.js';
import { cleanedScript, forgetScript, unlinkScript } from './chunk-scripts.js';
import { countFields } from './count-scripts.js';
import { keys } from './keys.js';
import type { Redis } from './redis.js';

/**
 * Unlinking the chunks of generations that are to be cleaned away. Each step asks whether that is still so: a Redis that
 * came back with older data may serve from them again. How far it has come is noted in the generation, so that neither a
 * process that dies nor such a Redis leaves anything behind.
 */
export function createChunkRemoval(redis: Redis) {
  return {
    /** How many of a generation's batches are cleaned away, and how many there are at least. */
    cleaning: async (generation: string): Promise<{ cleaned: number; batches: number; chunks: number }> => {
      const names = ['cleaned', 'written', 'chunks'];
      const values = await redis.hmGet(keys.generation(generation), names);
      const [cleaned = 0, written = 0, chunks = 0] = values.map((value) => Number(value ?? 0));
      return { cleaned, chunks, batches: batchCount(Math.max(written, chunks)) };
    },

    /**
     * Leaves chunks alone whose terms somebody's statistics hold.
     * @returns how many were unlinked, or null when the generation is not to be cleaned away (any more)
     */
    unlink: async (generation: string, numbers: readonly number[]): Promise<number | null> => {
      let removed = 0;
      for (const group of inGroups(numbers)) {
        const done = await unlinkScript.run(redis, {
          keys: [
            ...[keys.garbage, keys.generation(generation)],
            ...group.map((number) => keys.chunk(generation, number)),
          ],
          arguments: [generation, ...countFields(Math.floor((group[0] ?? 0) / BATCH_SIZE))],
        });
        if (done === -1) return null;
        removed += Math.max(0, done);
      }
      return removed;
    },

    /** Notes that the next batch is cleaned away; false where it is not, or another is the next. */
    noteCleaned: async (generation: string, batch: number): Promise<boolean> => {
      const numbers = batchNumbers(batch, (batch + 1) * BATCH_SIZE);
      const done = await cleanedScript.run(redis, {
        keys: [
          ...[keys.garbage, keys.generation(generation)],
          ...numbers.map((number) => keys.chunk(generation, number)),
        ],
        arguments: [generation, String(batch), ...countFields(batch)],
      });
      return done === 1;
    },

    /** The last trace of a generation, after so many batches were cleaned away; false where that is not so (any more). */
    forget: async (generation: string, cleaned: number): Promise<boolean> => {
      const done = await forgetScript.run(redis, {
        keys: [keys.garbage, keys.generation(generation), keys.hidden],
        arguments: [generation, String(cleaned)],
      });
      return done === 1;
    },
  };
}
