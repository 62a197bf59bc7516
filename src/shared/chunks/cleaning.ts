import { at } from '../at.js';
import { batchCount, batchNumbers, BATCH_SIZE, inGroups } from '../batches.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { countFields } from '../term-statistics/scripts.js';
import { cleanedScript, forgetScript, unlinkScript } from './scripts.js';

export interface Cleaning {
  /** The number of batches of the generation that are cleaned away. */
  readonly cleaned: number;
  /** The least number of batches. */
  readonly batches: number;
  readonly chunks: number;
}

export async function readCleaning(redis: Redis, generation: string): Promise<Cleaning> {
  const names = ['cleaned', 'written', 'chunks'];
  // A missing field stands for 0.
  const values = (await redis.hmGet(keys.generation(generation), names)).map(Number);
  const [cleaned, written, chunks] = [at(values, 0), at(values, 1), at(values, 2)];
  return { cleaned, chunks, batches: batchCount(Math.max(written, chunks)) };
}

export async function unlinkChunks(
  redis: Redis,
  generation: string,
  numbers: readonly number[],
): Promise<number | null> {
  let removed = 0;
  for (const group of inGroups(numbers)) {
    const done = await unlinkScript.run(redis, {
      keys: [
        keys.garbage,
        keys.generation(generation),
        ...group.map((number) => keys.chunk(generation, number)),
      ],
      arguments: [generation, ...countFields(Math.floor(at(group, 0) / BATCH_SIZE))],
    });
    if (done === -1) return null;
    removed += Math.max(0, done);
  }
  return removed;
}

export async function noteCleaned(redis: Redis, generation: string, batch: number): Promise<boolean> {
  const numbers = batchNumbers(batch, (batch + 1) * BATCH_SIZE);
  const done = await cleanedScript.run(redis, {
    keys: [
      keys.garbage,
      keys.generation(generation),
      ...numbers.map((number) => keys.chunk(generation, number)),
    ],
    arguments: [generation, String(batch), ...countFields(batch)],
  });
  return done === 1;
}

export async function forgetGeneration(redis: Redis, generation: string, cleaned: number): Promise<boolean> {
  const done = await forgetScript.run(redis, {
    keys: [keys.garbage, keys.generation(generation), keys.hidden],
    arguments: [generation, String(cleaned)],
  });
  return done === 1;
}
