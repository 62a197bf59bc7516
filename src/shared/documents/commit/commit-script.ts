import { CHECK_RESERVATION, MARK_RESERVATION } from '../../idempotency/reservation-scripts.js';
import { REFER_TO_ACCESS_GROUPS, REQUIRE_ACCESS_GROUPS } from '../../access/access-group-scripts.js';
import { WHOLE_FUNCTION } from '../../chunks/scripts.js';
import { defineFrequentScript, defineScript, EVEN_WHEN_FULL } from '../../redis/client.js';
import { SERVER_TIME } from '../../redis/server-time.js';
import { CHECK_QUOTAS, COUNT_OWNED, OWNED_FUNCTIONS } from '../owned.js';
import { CHECK_CONTENT_IS_NEW, INDEX_CONTENT } from '../content-hashes.js';

/** The script's answer when searches use other vectors than the process makes, which it has not noticed yet. */
export const REINDEXED = -1;

/** The script's answer when a generation lacks something, because Redis came back without its last writes. */
export const NOT_WHOLE = -3;

/** The script's answer when a document that a key stands for was deleted, so that it must not come back. */
export const DELETED = -7;

const BEFORE_PUBLISHING = `${SERVER_TIME}${OWNED_FUNCTIONS}
local change = cjson.decode(ARGV[1])
local record, sequence, changes, tombstones = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local unfinished, hidden, garbage, dirty, objects = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local drafts, schema, ingests, callers = KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local unreferenced, waiting, accessGroupPrefix = KEYS[14], KEYS[15], ARGV[4]
local contents, reservation, owned, ownedTotals = KEYS[16], KEYS[17], KEYS[18], KEYS[19]
local usages, generations = tonumber(ARGV[3]), {}
-- Pairs of a user and an event come before the fields and values of the record.
local values = 5 + 2 * usages
local last = values + change.values - 1
for i, generation in ipairs(change.touched) do generations[generation] = KEYS[19 + usages + i] end
if change.unhide ~= '' and (redis.call('HGET', schema, 'vectorField') or 'vector') ~= change.vectors then
  return -1
end
${CHECK_RESERVATION}
if change.run ~= '' and change.revision == '' and redis.call('ZSCORE', tombstones, change.id) then
  return ${String(DELETED)}
end
if (redis.call('HGET', record, 'revision') or '') ~= change.revision then return 0 end
for _, expected in ipairs(change.expected) do
  if redis.call('HGET', generations[expected[1]], expected[2]) ~= expected[3] then return ${String(NOT_WHOLE)} end
end
${CHECK_CONTENT_IS_NEW}
${CHECK_QUOTAS}
${REQUIRE_ACCESS_GROUPS}
if change.removed or change.evenWhenFull then ${EVEN_WHEN_FULL} end
if change.removed then
  redis.call('DEL', record)
  redis.call('ZADD', tombstones, change.now, change.id)
else
  if #change.dropped > 0 then redis.call('HDEL', record, unpack(change.dropped)) end
  redis.call('HSET', record, unpack(ARGV, values, last))
end
${COUNT_OWNED}
${REFER_TO_ACCESS_GROUPS}
if change.open ~= '' then
  redis.call('SADD', hidden, change.open)
  redis.call('HSET', generations[change.open], 'document', change.id)
end
`;

const FROM_PUBLISHING_ON = `
if change.unhide ~= '' then redis.call('SREM', hidden, change.unhide) end
for _, generation in ipairs(change.discard) do
  redis.call('SADD', hidden, generation)
  redis.call('SADD', garbage, generation)
  if redis.call('EXISTS', generations[generation]) == 1 then
    redis.call('HSET', generations[generation], 'discarded', '1')
  end
end
if change.referred ~= '' then redis.call('ZREM', drafts, change.referred) end
if #change.objects > 0 then
  -- The time is the server's own, which is also what decides about their removal.
  local now = string.format('%d', serverTime())
  for _, object in ipairs(change.objects) do redis.call('ZADD', objects, now, object) end
end
for i = 1, usages do
  redis.call('RPUSH', KEYS[19 + i], ARGV[4 + 2 * i])
  redis.call('SADD', dirty, ARGV[3 + 2 * i])
end
local ingestOf = redis.call('HGET', ingests, change.id) or ''
if ingestOf ~= change.ingestOf then
  if ingestOf ~= '' and tonumber(redis.call('ZINCRBY', callers, -1, ingestOf)) <= 0 then
    redis.call('ZREM', callers, ingestOf)
  end
  if change.ingestOf == '' then redis.call('HDEL', ingests, change.id)
  else
    redis.call('HSET', ingests, change.id, change.ingestOf)
    redis.call('ZINCRBY', callers, 1, change.ingestOf)
  end
end
${INDEX_CONTENT}
${MARK_RESERVATION}
if change.unfinished then redis.call('ZADD', unfinished, change.now, change.id)
else redis.call('ZREM', unfinished, change.id) end
redis.call('ZADD', changes, redis.call('INCR', sequence), change.id)
if change.settled then redis.call('PUBLISH', ARGV[2], change.id) end
return 1
`;

/**
 * The only way in which a record changes. It compares the revision, writes the changed fields with the short source that
 * belongs to it, appends to the change log, hides and unhides generations, and appends usage events. Its work does not grow
 * with the number of chunks.
 */
const COMMIT = `${BEFORE_PUBLISHING}${FROM_PUBLISHING_ON}`;
export const commitScript = defineFrequentScript<number>(COMMIT);

/** The same, which also writes all chunks of the generation that it publishes. */
export const commitWholeScript = defineFrequentScript<number>(`${WHOLE_FUNCTION}${BEFORE_PUBLISHING}
writeWhole(generations[change.unhide], 20 + usages + #change.touched, last + 1)
${FROM_PUBLISHING_ON}`);

/**
 * Does the same as the first script for several new records, which saves a script and a round trip for each of them. KEYS
 * holds their hashes and then the keys that all of them share; ARGV the number of records, and for each the number of its
 * arguments and these. Answers for each as the first would. An error says nothing of the records before the failed one.
 */
export const commitNewScript = defineScript<number[]>(`local function commit(KEYS, ARGV)
${COMMIT}end
local records, at, done = tonumber(ARGV[1]), 2, {}
for i = 1, records do
  local count = tonumber(ARGV[at])
  done[i] = commit({KEYS[i], unpack(KEYS, records + 1)}, {unpack(ARGV, at + 1, at + count)})
  at = at + count + 1
end
return done
`);
