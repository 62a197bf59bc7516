import { defineScript, SERVER_TIME } from '../../../shared/redis/client.js';
import { JOIN_LINE, TURN_FUNCTIONS } from './turn-scripts.js';

/*
 * The hash of reservations holds `version:all:embedding:left` of a document: the bytes that it wants in all, the bytes of
 * them that embedding writes, and the bytes that are still to be written. The hash of waiting documents holds
 * `version:all:since`, with the time in ms from which on the document waits, and without it where a begun document was
 * taken back. Whatever ends an ingest takes its document out of `ingests`; the entries of such a document are removed here.
 */

/** The greatest multiple of its estimate that a document wants by its notes, so that no number of returns fails it. */
const MAX_NOTED = 4;

/**
 * KEYS: reservations, waiting documents, ingests, callers who wait, the line, the turn. ARGV: the document, its version,
 * the bytes that it wants, the bytes of them for embedding, the room that nothing has taken yet, for how many ms its caller
 * counts as one who waits, and the times of turns. A document that had to give back wants the bytes noted then, if they are
 * more, also after it was begun again. Answers the bytes that are reserved, or minus the bytes that are wanted, and whether
 * it stands in the line.
 *
 * While others wait, one caller gets at most half of the room, except for a document that is the only one of its caller.
 * While a document has its turn, others leave it room, but for a few small ones. The time does not grow with the number of
 * waiting documents.
 */
export const reserveScript = defineScript<[bytes: number, isInLine: number]>(`${SERVER_TIME}
local reserved, waiting, ingests, callers, line, turn = unpack(KEYS)
local id, version, all, embedding, room = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local now, caller = serverTime(), redis.call('HGET', ingests, id) or ''
local function whole(number) return string.format('%.0f', number) end
${TURN_FUNCTIONS}
local function notedIn(hash)
  local of, bytes = string.match(redis.call('HGET', hash, id) or '', '^(%d+):(%d+)')
  return of == version and tonumber(bytes) or 0
end
local noted = math.max(notedIn(waiting), notedIn(reserved))
if all > 0 then noted = math.min(noted, ${String(MAX_NOTED)} * all) end
if noted > all then all, embedding = noted, embedding + noted - all end
local promised, own, entries = 0, 0, redis.call('HGETALL', reserved)
for first = 1, #entries, 1000 do
  local last = math.min(first + 999, #entries)
  local ids = {}
  for i = first, last, 2 do ids[#ids + 1] = entries[i] end
  for n, of in ipairs(redis.call('HMGET', ingests, unpack(ids))) do
    local left = tonumber(string.match(entries[first + 2 * n - 1], '(%d+)$'))
    if not of then redis.call('HDEL', reserved, ids[n])
    elseif ids[n] ~= id then
      promised = promised + left
      if of == caller then own = own + left end
    end
  end
end
-- A few at a time, and more than are added.
for _, each in ipairs(redis.call('HRANDFIELD', waiting, 10)) do
  if redis.call('HEXISTS', ingests, each) == 0 then redis.call('HDEL', waiting, each) end
end
redis.call('ZREMRANGEBYSCORE', callers, '-inf', whole(now))
local othersWait = false
for _, each in ipairs(redis.call('ZRANGE', callers, 0, 1)) do othersWait = othersWait or each ~= caller end
local holder, held = turnOf(now, room - promised)
if holder == id or redis.call('HEXISTS', reserved, id) == 1 then held = 0 end
local mayPass = held > 0 and promised + all + held > room and passes(all, held)
if mayPass then held = 0 end
if promised + all + held > room or (othersWait and own > 0 and own + all > room / 2) then
  local of, since = string.match(redis.call('HGET', waiting, id) or '', '^(%d+):%d+:(%d+)$')
  if of ~= version then since = whole(now) end
  redis.call('HDEL', reserved, id)
  redis.call('HSET', waiting, id, version .. ':' .. whole(all) .. ':' .. since)
  redis.call('ZADD', callers, whole(now + ARGV[6]), caller)
  ${JOIN_LINE}
  if not holder then turnOf(now, room - promised) end
  return {-all, isInLine}
end
redis.call('HDEL', waiting, id)
redis.call('ZREM', line, id)
if holder == id then endTurn(now, 0) end
if mayPass then redis.call('HINCRBY', turn, 'passed', whole(all)) end
redis.call('HSET', reserved, id, version .. ':' .. whole(all) .. ':' .. whole(embedding) .. ':' .. whole(all))
return {all, 0}
`);

/**
 * Notes how much is still to be written: a share of the bytes that embedding writes. KEYS: reservations. ARGV: document,
 * version, share.
 */
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
  `
local version, all = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+):(%d+):')
if not version then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
local more = string.format('%.0f', tonumber(all) * tonumber(ARGV[2]))
redis.call('HSET', KEYS[2], ARGV[1], version .. ':' .. more)
return 1
`,
  { evenWhenFull: true },
);
