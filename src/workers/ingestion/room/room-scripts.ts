import { declareScript, evenWhenFull, SERVER_TIME } from '../../../shared/redis/script.js';

/*
 * Turns of documents that wait for room. Freed room goes to whoever asks first, so that smaller documents, of which there
 * are always more, could keep a large one out for ever. So the first document in a line of long waiting ones has its turn,
 * for which others leave room, one at a time, as the first job of a queue has with EASY backfilling (Lifka 1995; Mu'alem
 * and Feitelson 2001). Nobody knows when room will come free, so that a turn ends when none does, and a pause follows.
 * Small documents need not wait for that: all of them together may take a 64th of the room that it wants, and again each
 * time when more room than they took has come free. So its room grows as long as its turn is not in vain, and it gets it.
 */

/** All in ms. */
export interface TurnTimes {
  /** A document stands in the line after it has waited for so long, and a turn is followed by a pause of as much at least. */
  readonly patience: number;
  /** A turn ends when no more room worth mentioning has come free for so long. */
  readonly idle: number;
  /** A turn and a pause take no longer. */
  readonly most: number;
}

/**
 * The parts that the room wanted by the document is divided into. Changes of the free room up to one part are noise, and
 * one part is left to small documents.
 */
const PARTS = 64;

/** The number of documents in the line, one of a caller; others come later. */
const MAX_LINE = 100;

/**
 * Expects the keys and times of `reserveScript`, and the function `whole`. `turnOf` answers the document that has its turn and how much it wants, or nil and 0. `passes` tells whether a document that wants little need
 * not leave it room.
 */
const TURN_FUNCTIONS = `
local function wantedBy(document)
  if redis.call('HEXISTS', ingests, document) == 0 then return nil end
  local bytes, since = string.match(redis.call('HGET', waiting, document) or '', '^%d+:(%d+):?(%d*)$')
  return tonumber(bytes), tonumber(since)
end
-- Others have the room for as long as the turn took, at least.
local function endTurn(now, pause)
  local from = tonumber(redis.call('HGET', turn, 'from'))
  local lasting = math.min(most, math.max(pause, now - from))
  redis.call('HDEL', turn, 'document')
  redis.call('HSET', turn, 'from', whole(now))
  redis.call('PEXPIRE', turn, whole(math.max(1, lasting)))
end
local function goesOn(now, free, document)
  local bytes = wantedBy(document)
  if not bytes then
    endTurn(now, 0)
    return nil
  end
  local from, freest, grew, waited = unpack(redis.call('HMGET', turn, 'from', 'free', 'grew', 'waited'))
  -- What Redis uses goes up and down a little all the time.
  if free > tonumber(freest) + bytes / ${String(PARTS)} then
    redis.call('HSET', turn, 'free', whole(free), 'grew', whole(now), 'passed', '0')
    grew = now
  end
  if now - grew < idle and now - from < most then return bytes end
  endTurn(now, math.max(patience, tonumber(waited)))
end
local function passes(all, held)
  return tonumber(redis.call('HGET', turn, 'passed') or '0') + all <= held / ${String(PARTS)}
end
-- The next one goes to the end of the line at once, since it may not get its room.
local function nextInLine(now, free)
  for _, document in ipairs(redis.call('ZRANGE', line, 0, -1)) do
    local bytes, since = wantedBy(document)
    if bytes then
      redis.call('ZADD', line, whole(now), document)
      redis.call('HSET', turn, 'document', document, 'from', whole(now), 'free', whole(free), 'grew', whole(now),
        'waited', whole(now - (since or now)), 'passed', '0')
      redis.call('PEXPIRE', turn, whole(2 * most))
      return document, bytes
    end
    redis.call('ZREM', line, document)
  end
  return nil, 0
end
local function turnOf(now, free)
  local document = redis.call('HGET', turn, 'document')
  if document then
    local bytes = goesOn(now, free, document)
    if bytes then return document, bytes end
    return nil, 0
  end
  if redis.call('EXISTS', turn) == 1 then return nil, 0 end
  return nextInLine(now, free)
end
`;

/** Expects `id`, `caller`, `since` and `now` besides, and sets `isInLine`. One document of each caller stands in the line. */
const JOIN_LINE = `
local isInLine = redis.call('ZSCORE', line, id) and 1 or 0
if isInLine == 0 and now - tonumber(since) >= patience then
  local inLine = redis.call('ZRANGE', line, 0, -1)
  local isOwn, standing = false, 0
  for n, of in ipairs(#inLine > 0 and redis.call('HMGET', ingests, unpack(inLine)) or {}) do
    if of then standing = standing + 1 else redis.call('ZREM', line, inLine[n]) end
    isOwn = isOwn or of == caller
  end
  if not isOwn and standing < ${String(MAX_LINE)} then isInLine = redis.call('ZADD', line, whole(now), id) end
end
`;

/*
 * The hash of reservations holds `version:all:embedding:left` of a document: the bytes that it wants in all, the bytes of
 * them that embedding writes, and the bytes that are still to be written. The hash of waiting documents holds
 * `version:all:since`, with the time in ms from which on the document waits, and without it where a begun document was
 * taken back. Whatever ends an ingest takes its document out of `ingests`; the entries of such a document are removed here.
 */

/** The greatest multiple of its estimate that a document wants by its notes, so that no number of returns fails it. */
const MAX_NOTED = 4;

/**
 * Reserves the bytes that a document wants in `all`, some of them for embedding, of the room that nothing has taken yet. Its
 * caller counts as one who waits for `callerWaits` ms. A document that had to give back wants the bytes noted then, if they
 * are more, also after it was begun again. Answers the bytes that are reserved, or minus the bytes that are wanted, and whether
 * it stands in the line.
 *
 * While others wait, one caller gets at most half of the room, except for a document that is the only one of its caller.
 * While a document has its turn, others leave it room, but for a few small ones. The time does not grow with the number of
 * waiting documents.
 */
export const reserveScript = declareScript({
  keys: { reserved: 'key', waiting: 'key', ingests: 'key', callers: 'key', line: 'key', turn: 'key' },
  args: {
    id: 'text',
    version: 'text',
    all: 'number',
    embedding: 'number',
    room: 'number',
    callerWaits: 'number',
    patience: 'number',
    idle: 'number',
    most: 'number',
  },
}).lua<[bytes: number, isInLine: number]>(`${SERVER_TIME}
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
  redis.call('ZADD', callers, whole(now + callerWaits), caller)
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

/** Notes how much is still to be written: a share of the bytes that embedding writes. */
export const spendScript = declareScript({
  keys: { reserved: 'key' },
  args: { id: 'text', version: 'text', share: 'number' },
}).lua<number>(`
local of, all, embedding = string.match(redis.call('HGET', reserved, id) or '', '^(%d+):(%d+):(%d+):')
if of ~= version then return 0 end
local left = string.format('%.0f', tonumber(embedding) * share)
return redis.call('HSET', reserved, id, of .. ':' .. all .. ':' .. embedding .. ':' .. left)
`);

/**
 * Takes a reservation back from a document whose chunks are being removed; it waits for more room than it had, by the factor
 * `more`.
 */
export const takeBackScript = declareScript({
  keys: { reserved: 'key', waiting: 'key' },
  args: { id: 'text', more: 'number' },
}).lua<number>(`
${evenWhenFull('hash', 'reserved')}
local version, all = string.match(redis.call('HGET', reserved, id) or '', '^(%d+):(%d+):')
if not version then return 0 end
redis.call('HDEL', reserved, id)
redis.call('HSET', waiting, id, version .. ':' .. string.format('%.0f', tonumber(all) * more))
return 1
`);
