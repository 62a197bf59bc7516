import { defineScript } from '../../../shared/redis/client.js';
import { SERVER_TIME } from '../../../shared/redis/server-time.js';

/*
 * The hash of reservations holds `version:all:embedding:left` of a document: the bytes that it wants in all, those of them
 * that embedding writes, and those that are still to be written. The hash of waiting documents holds `version:all:time`.
 * Whatever ends an ingest takes its document out of `ingests`; what is noted of such a document is removed here.
 */

/** A document that has not asked again for so long does not wait any more. */
const WAITING_MILLISECONDS = 60_000;

/**
 * KEYS: reservations, waiting documents, ingests. ARGV: the document, its version, the bytes that it wants, those of
 * embedding, and the room that nothing has taken yet. A document that had to give back wants what was noted then, if that is
 * more. Answers the bytes that are reserved, or minus those that are wanted.
 *
 * While others wait, one caller gets at most half of the room, except for a document that is the only one of its caller.
 */
export const reserveScript = defineScript<number>(`${SERVER_TIME}
local reserved, waiting, ingests = KEYS[1], KEYS[2], KEYS[3]
local id, version, all, embedding, room = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local now, caller = serverTime(), redis.call('HGET', ingests, id)
local noted, bytes = string.match(redis.call('HGET', waiting, id) or '', '^(%d+):(%d+):')
if noted == version then all = math.max(all, tonumber(bytes)) end
local promised, own, othersWait = 0, 0, false
local entries = redis.call('HGETALL', reserved)
for i = 1, #entries, 2 do
  local of, left = redis.call('HGET', ingests, entries[i]), tonumber(string.match(entries[i + 1], '(%d+)$'))
  if not of then redis.call('HDEL', reserved, entries[i])
  elseif entries[i] ~= id then
    promised = promised + left
    if of == caller then own = own + left end
  end
end
entries = redis.call('HGETALL', waiting)
for i = 1, #entries, 2 do
  local of, time = redis.call('HGET', ingests, entries[i]), tonumber(string.match(entries[i + 1], '(%d+)$'))
  if not of then redis.call('HDEL', waiting, entries[i])
  elseif of ~= caller and now - time < ${String(WAITING_MILLISECONDS)} then othersWait = true end
end
local function whole(number) return string.format('%.0f', number) end
if promised + all > room or (othersWait and own > 0 and own + all > room / 2) then
  redis.call('HDEL', reserved, id)
  redis.call('HSET', waiting, id, version .. ':' .. whole(all) .. ':' .. whole(now))
  return -all
end
redis.call('HDEL', waiting, id)
redis.call('HSET', reserved, id, version .. ':' .. whole(all) .. ':' .. whole(embedding) .. ':' .. whole(all))
return all
`);

/** Notes how much is still to be written: a share of what embedding writes. KEYS: reservations. ARGV: document, version, share. */
export const spendScript = defineScript<number>(`
local version, all, embedding = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+):(%d+):(%d+):')
if version ~= ARGV[2] then return 0 end
local left = string.format('%.0f', tonumber(embedding) * tonumber(ARGV[3]))
return redis.call('HSET', KEYS[1], ARGV[1], version .. ':' .. all .. ':' .. embedding .. ':' .. left)
`);

/**
 * Takes a reservation back from a document whose chunks are being removed; it waits for more room than it had. KEYS:
 * reservations, waiting documents. ARGV: the document, and by how much more.
 */
export const takeBackScript = defineScript<number>(
  `${SERVER_TIME}
local version, all = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+):(%d+):')
if not version then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
local more = string.format('%.0f', tonumber(all) * tonumber(ARGV[2]))
redis.call('HSET', KEYS[2], ARGV[1], version .. ':' .. more .. ':' .. string.format('%.0f', serverTime()))
return 1
`,
  { evenWhenFull: true },
);
