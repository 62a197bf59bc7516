import { toMember } from './keys.js';
import { packedLength, packedTerms } from './terms.js';

/** Redis passes a script's values to a command on a stack of a few thousand. */
const LARGEST_GROUP = 1_000;

/** Field of a generation that says whose term statistics hold a batch of its chunks. */
export const countedField = (batch: number): string => `counted:${String(batch)}`;

/** What the functions below take of `ARGV`: the batch, whose it is, chunks, length, and the terms in groups. */
export function countArguments(
  { batch, terms }: { readonly batch: number; readonly terms: readonly Uint8Array[] },
  owner: string,
): string[] {
  const length = terms.reduce((sum, packed) => sum + packedLength(packed), 0);
  return [
    ...[countedField(batch), toMember(owner), String(terms.length), String(length)],
    ...groupTerms(terms),
  ];
}

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

/**
 * Lua functions for the scripts that count. A generation remembers which of its batches are counted and for whom:
 * counting one twice, or forgetting what was never counted, changes nothing. A group is read and written as one: a
 * command for each term costs more, here and in the append-only file.
 */
export const COUNT_FUNCTIONS = `
local function add(statistics, sign, at, last)
  redis.call('HINCRBY', statistics, 'chunks', sign * ARGV[at])
  redis.call('HINCRBY', statistics, 'length', sign * ARGV[at + 1])
  at = at + 2
  while at < last do
    local by, first, final = sign * ARGV[at], at + 2, at + 1 + ARGV[at + 1]
    local counts = redis.call('HMGET', statistics, unpack(ARGV, first, final))
    local fields, gone = {}, {}
    for i = first, final do
      local count = (counts[i - first + 1] or 0) + by
      if count > 0 then
        fields[#fields + 1] = ARGV[i]
        fields[#fields + 1] = count
      else gone[#gone + 1] = ARGV[i] end
    end
    if #fields > 0 then redis.call('HSET', statistics, unpack(fields)) end
    if #gone > 0 then redis.call('HDEL', statistics, unpack(gone)) end
    at = final + 1
  end
end
local function count(generation, statistics, at, last)
  if redis.call('HSETNX', generation, ARGV[at], ARGV[at + 1]) == 0 then return 0 end
  add(statistics, 1, at + 2, last)
  return 1
end
local function forget(generation, statistics, at, last)
  if redis.call('HGET', generation, ARGV[at]) ~= ARGV[at + 1] then return 0 end
  redis.call('HDEL', generation, ARGV[at])
  add(statistics, -1, at + 2, last)
  return 1
end
`;
