import { countArguments, COUNT_FUNCTIONS, countedField } from './count-scripts.js';
import { fromMember, keys } from './keys.js';
import type { TermStatistics } from './query-words.js';
import { defineScript, type Redis } from './redis.js';

/** One batch of a generation's chunks, counted as a whole or not at all. */
export interface CountedBatch {
  readonly generation: string;
  readonly batch: number;
  /** Packed term counts of the batch's chunks. */
  readonly terms: readonly Uint8Array[];
}

export type TermStatisticsStore = ReturnType<typeof createTermStatistics>;

/**
 * Document frequencies of each owner's chunks. They are counted first by the step that writes the chunks
 * (`shared/chunks.ts`); here they go from one owner to another, and are forgotten. A generation remembers which of its
 * batches are counted and for whom, so counting twice, or forgetting what was never counted, changes nothing.
 */
export function createTermStatistics(redis: Redis) {
  const run = async (script: typeof countScript, batch: CountedBatch, owner: string) => {
    const done = await script.run(redis, {
      keys: [keys.generation(batch.generation), keys.statistics(owner), keys.garbage],
      arguments: [batch.generation, ...countArguments(batch, owner)],
    });
    return done >= 0;
  };

  return {
    /** @returns false for a generation that was discarded */
    count: (batch: CountedBatch, ownerId: string): Promise<boolean> => run(countScript, batch, ownerId),

    forget: async (batch: CountedBatch, ownerId: string): Promise<void> => {
      await run(forgetScript, batch, ownerId);
    },

    /** @returns false for a generation that is not to be cleaned away (any more) */
    forgetGarbage: (batch: CountedBatch, ownerId: string): Promise<boolean> =>
      run(forgetGarbageScript, batch, ownerId),

    /** Whose statistics hold each of the first `batches` batches; null where none do. */
    countedFor: async (generation: string, batches: number): Promise<(string | null)[]> => {
      const names = Array.from({ length: batches }, (_, batch) => countedField(batch));
      const members = names.length > 0 ? await redis.hmGet(keys.generation(generation), names) : [];
      return members.map((member) => (member === null ? null : fromMember(member)));
    },

    /** Whose statistics hold a batch. */
    ownerOf: async (generation: string, batch: number): Promise<string | null> => {
      const member = await redis.hGet(keys.generation(generation), countedField(batch));
      return member === null ? null : fromMember(member);
    },

    read: async (ownerId: string, terms: readonly number[]): Promise<TermStatistics> => {
      const names = ['chunks', 'length', ...terms.map(String)];
      const [chunks, length, ...counts] = await redis.hmGet(keys.statistics(ownerId), names);
      const frequencies = new Map(terms.map((term, i) => [term, Number(counts[i] ?? 0)]));
      return { chunks: Number(chunks ?? 0), totalLength: Number(length ?? 0), frequencies };
    },
  };
}

const countScript = defineScript<number>(`${COUNT_FUNCTIONS}
if redis.call('HEXISTS', KEYS[1], 'document') == 0 or redis.call('HEXISTS', KEYS[1], 'discarded') == 1 then return -1 end
return count(KEYS[1], KEYS[2], 2, #ARGV)`);

const forgetScript = defineScript<number>(`${COUNT_FUNCTIONS}
return forget(KEYS[1], KEYS[2], 2, #ARGV)`);

const forgetGarbageScript = defineScript<number>(`${COUNT_FUNCTIONS}
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 0 then return -1 end
return forget(KEYS[1], KEYS[2], 2, #ARGV)`);
