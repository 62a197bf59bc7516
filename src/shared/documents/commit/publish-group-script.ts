import { defineFrequentScript } from '../../redis/client.js';
import { CHANGE_FUNCTION } from '../../term-statistics/scripts.js';
import { OWNED_FIELD, OWNED_FUNCTIONS } from '../owned.js';
import { GROUP_FIELD } from '../record-fields.js';

/** The script's answer when searches use other vectors than the process makes, in place of the documents that it refuses. */
export const GROUP_REINDEXED = -1;

/**
 * Does for new documents what the commit script does when it publishes each of them with its chunks, with one command for
 * all where Redis has one: the change log, usage events, counts of unfinished ingests and of terms, and the message to
 * waiting requests. First it looks whether all are as they were read. If one is not, it writes nothing and answers which.
 *
 * A new document has nothing that has to be discarded or referred to anew, its access tags stay as they are, and its
 * generation does not exist. Where the owner's quota is too small for all of them, it answers all, and each is published
 * alone. KEYS: the keys named below, and then the keys of the records, of the generations, and of all chunks. ARGV: how
 * many documents, the quota of chunks, and for each of them its id, revision, generation, and the amounts it is counted
 * with; then for each the fields of its record, the fields of its generation, and the number of its chunks with the fields
 * of each; the number of usage events and these; the chunks and their length, and the terms with their counts.
 */
export const publishGroupScript = defineFrequentScript<number[]>(`${CHANGE_FUNCTION}${OWNED_FUNCTIONS}
local sequence, changes, unfinished, hidden, dirty = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local schema, ingests, callers, statistics, usage = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local owned, ownedTotals = KEYS[11], KEYS[12]
local count, first = tonumber(ARGV[4]), 12
if (redis.call('HGET', schema, 'vectorField') or 'vector') ~= ARGV[1] then return {${String(GROUP_REINDEXED)}} end
local ids, generations, refused, all, every = {}, {}, {}, {0, 0, 0}, {}
for i = 1, count do
  ids[i], generations[i] = ARGV[2 + 4 * i], ARGV[4 + 4 * i]
  local revision, noted = unpack(redis.call('HMGET', KEYS[first + i], 'revision', '${OWNED_FIELD}'))
  if revision ~= ARGV[3 + 4 * i] or redis.call('EXISTS', KEYS[first + count + i]) == 1 then
    refused[#refused + 1] = i - 1
  end
  for j, more in ipairs(differenceOf(noted, ARGV[5 + 4 * i])) do all[j] = all[j] + more end
  every[i] = i - 1
end
if #refused > 0 then return refused end
if overQuota(owned, ownedTotals, all, {-1, -1, tonumber(ARGV[5])}) then return every end
addOwned(owned, ownedTotals, all)
local at, chunk = 6 + 4 * count, first + 2 * count
local function write(key)
  local fields = tonumber(ARGV[at])
  redis.call('HSET', key, unpack(ARGV, at + 1, at + fields))
  at = at + fields + 1
end
for i = 1, count do
  write(KEYS[first + i])
  redis.call('HDEL', KEYS[first + i], '${GROUP_FIELD}')
  write(KEYS[first + count + i])
  local chunks = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, chunks do
    chunk = chunk + 1
    write(KEYS[chunk])
  end
end
redis.call('SREM', hidden, unpack(generations))
local events = tonumber(ARGV[at])
if events > 0 then
  redis.call('RPUSH', usage, unpack(ARGV, at + 1, at + events))
  redis.call('SADD', dirty, ARGV[2])
end
at = at + events + 1
if ARGV[at] ~= '0' then
  redis.call('HINCRBY', statistics, 'chunks', ARGV[at])
  redis.call('HINCRBY', statistics, 'length', ARGV[at + 1])
end
change(statistics, 1, at + 2, #ARGV)
local ended = {}
for _, caller in ipairs(redis.call('HMGET', ingests, unpack(ids))) do
  if caller then ended[caller] = (ended[caller] or 0) + 1 end
end
for caller, documents in pairs(ended) do
  if tonumber(redis.call('ZINCRBY', callers, -documents, caller)) <= 0 then redis.call('ZREM', callers, caller) end
end
redis.call('HDEL', ingests, unpack(ids))
redis.call('ZREM', unfinished, unpack(ids))
local last, entries = redis.call('INCRBY', sequence, count), {}
for i = 1, count do
  entries[2 * i - 1], entries[2 * i] = string.format('%d', last - count + i), ids[i]
end
redis.call('ZADD', changes, unpack(entries))
redis.call('PUBLISH', ARGV[3], table.concat(ids, ','))
return {}
`);
