import { keys } from './keys.js';
import type { TermStatistics } from './ranking.js';
import { defineScript, type Redis } from './redis.js';
import { unpackTerms } from './terms.js';

/** One batch of a generation's chunks, counted as a whole or not at all. */
export interface CountedBatch {
  readonly generation: string;
  readonly batch: number;
  /** Packed term counts of the batch's chunks. */
  readonly terms: readonly Uint8Array[];
}

export type TermStatisticsStore = ReturnType<typeof createTermStatistics>;

/**
 * Document frequencies of each owner's chunks. A generation remembers which of its batches are counted and for whom, so
 * counting twice, or forgetting what was never counted, changes nothing.
 */
export function createTermStatistics(redis: Redis) {
  const run = async (
    script: typeof countScript,
    { generation, batch, terms }: CountedBatch,
    owner: string,
  ) => {
    const { length, frequencies } = sumTerms(terms);
    const pairs = [...frequencies].flatMap(([term, count]) => [String(term), String(count)]);
    await script.run(redis, {
      keys: [keys.generation(generation), keys.statistics(owner)],
      arguments: [`counted:${String(batch)}`, owner, String(terms.length), String(length), ...pairs],
    });
  };

  return {
    count: (batch: CountedBatch, ownerId: string): Promise<void> => run(countScript, batch, ownerId),

    forget: (batch: CountedBatch, ownerId: string): Promise<void> => run(forgetScript, batch, ownerId),

    /** Whose statistics hold each of the first `batches` batches; null where none do. */
    countedFor: async (generation: string, batches: number): Promise<(string | null)[]> => {
      const names = Array.from({ length: batches }, (_, batch) => `counted:${String(batch)}`);
      return names.length > 0 ? redis.hmGet(keys.generation(generation), names) : [];
    },

    read: async (ownerId: string, terms: readonly number[]): Promise<TermStatistics> => {
      const names = ['chunks', 'length', ...terms.map(String)];
      const [chunks, length, ...counts] = await redis.hmGet(keys.statistics(ownerId), names);
      const frequencies = new Map(terms.map((term, i) => [term, Number(counts[i] ?? 0)]));
      return { chunks: Number(chunks ?? 0), totalLength: Number(length ?? 0), frequencies };
    },
  };
}

function sumTerms(chunks: readonly Uint8Array[]) {
  const frequencies = new Map<number, number>();
  let length = 0;
  for (const packed of chunks) {
    const terms = unpackTerms(packed);
    length += terms.length;
    for (const term of terms.counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  }
  return { length, frequencies };
}

const ADD = `
local statistics, at = KEYS[2], 5
redis.call('HINCRBY', statistics, 'chunks', sign * ARGV[3])
redis.call('HINCRBY', statistics, 'length', sign * ARGV[4])
while at < #ARGV do
  if redis.call('HINCRBY', statistics, ARGV[at], sign * ARGV[at + 1]) <= 0 then
    redis.call('HDEL', statistics, ARGV[at])
  end
  at = at + 2
end
return 1
`;

const countScript = defineScript<number>(`
if redis.call('HEXISTS', KEYS[1], 'document') == 0 or redis.call('HEXISTS', KEYS[1], 'discarded') == 1 then return 0 end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
local sign = 1
${ADD}`);

const forgetScript = defineScript<number>(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
local sign = -1
${ADD}`);
