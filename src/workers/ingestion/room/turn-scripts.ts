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
 * Expects the locals `waiting`, `ingests`, `line`, `turn` and `whole`, and the times as ARGV 7 to 9. `turnOf` answers the
 * document that has its turn and how much it wants, or nil and 0. `passes` tells whether a document that wants little need
 * not leave it room.
 */
export const TURN_FUNCTIONS = `
local patience, idle, most = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
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
export const JOIN_LINE = `
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
