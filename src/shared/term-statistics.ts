import { fromMember, keys, toMember } from './keys.js';
import type { TermStatistics } from './query-words.js';
import { defineScript, type Redis } from './redis.js';
import { packedLength, packedTerms } from './terms.js';

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
    const length = terms.reduce((sum, packed) => sum + packedLength(packed), 0);
    await script.run(redis, {
      keys: [keys.generation(generation), keys.statistics(owner)],
      arguments: [
        `counted:${String(batch)}`,
        toMember(owner),
        String(terms.length),
        String(length),
        ...groupTerms(terms),
      ],
    });
  };

  return {
    count: (batch: CountedBatch, ownerId: string): Promise<void> => run(countScript, batch, ownerId),

    forget: (batch: CountedBatch, ownerId: string): Promise<void> => run(forgetScript, batch, ownerId),

    /** Whose statistics hold each of the first `batches` batches; null where none do. */
    countedFor: async (generation: string, batches: number): Promise<(string | null)[]> => {
      const names = Array.from({ length: batches }, (_, batch) => `counted:${String(batch)}`);
      const members = names.length > 0 ? await redis.hmGet(keys.generation(generation), names) : [];
      return members.map((member) => (member === null ? null : fromMember(member)));
    },

    read: async (ownerId: string, terms: readonly number[]): Promise<TermStatistics> => {
      const names = ['chunks', 'length', ...terms.map(String)];
      const [chunks, length, ...counts] = await redis.hmGet(keys.statistics(ownerId), names);
      const frequencies = new Map(terms.map((term, i) => [term, Number(counts[i] ?? 0)]));
      return { chunks: Number(chunks ?? 0), totalLength: Number(length ?? 0), frequencies };
    },
  };
}

/** Redis passes a script's values to a command on a stack of a few thousand. */
const LARGEST_GROUP = 1_000;

/** Terms by how many chunks hold them: for each group that number, the group's size, and the terms. */
function groupTerms(chunks: readonly Uint8Array[]): string[] {
  // Most documents are one chunk.
  const [only, ...others] = chunks;
  if (only && others.length === 0) return inGroups(1, packedTerms(only).map(String));
  const frequencies = new Map<number, number>();
  for (const packed of chunks)
    for (const term of packedTerms(packed)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const groups = new Map<number, string[]>();
  for (const [term, count] of frequencies) {
    const group = groups.get(count);
    if (group) group.push(String(term));
    else groups.set(count, [String(term)]);
  }
  return [...groups].flatMap(([count, terms]) => inGroups(count, terms));
}

function inGroups(count: number, terms: readonly string[]): string[] {
  const parts = Array.from({ length: Math.ceil(terms.length / LARGEST_GROUP) }, (_, i) =>
    terms.slice(i * LARGEST_GROUP, (i + 1) * LARGEST_GROUP),
  );
  return parts.flatMap((part) => [String(count), String(part.length), ...part]);
}

/** A group is read and written as one: a command for each term costs more, here and in the append-only file. */
const ADD = `
local statistics, at = KEYS[2], 5
redis.call('HINCRBY', statistics, 'chunks', sign * ARGV[3])
redis.call('HINCRBY', statistics, 'length', sign * ARGV[4])
while at < #ARGV do
  local by, first, last = sign * ARGV[at], at + 2, at + 1 + ARGV[at + 1]
  local counts = redis.call('HMGET', statistics, unpack(ARGV, first, last))
  local fields, gone = {}, {}
  for i = first, last do
    local count = (counts[i - first + 1] or 0) + by
    if count > 0 then
      fields[#fields + 1] = ARGV[i]
      fields[#fields + 1] = count
    else gone[#gone + 1] = ARGV[i] end
  end
  if #fields > 0 then redis.call('HSET', statistics, unpack(fields)) end
  if #gone > 0 then redis.call('HDEL', statistics, unpack(gone)) end
  at = last + 1
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
