import { defineScript } from '../redis/client.js';
import { CHANGE_FUNCTION, COUNT_FUNCTION } from '../term-statistics/scripts.js';

/** Refuses writes into a generation that was discarded or never opened. */
const GUARD = `
if redis.call('HEXISTS', KEYS[1], 'document') == 0 or redis.call('HEXISTS', KEYS[1], 'discarded') == 1 then
  return -1
end
`;

/** Refuses tags that were made of an older state of the record. */
const AT_REVISION = `
if redis.call('HGET', KEYS[2], 'revision') ~= ARGV[1] then return 0 end
`;

/**
 * A generation notes the name of its chunks' tags, and how many chunks in a row from 0 have them. A write that
 * continues such a row checks it, since a Redis that came back without its last writes may have lost it.
 */
const NOTE_TAGS = `
local function taggedUpTo(generation, name)
  local known, count = string.match(redis.call('HGET', generation, 'tagged') or '', '^(.*):(%d+)$')
  return known == name and tonumber(count) or 0
end
local function noteTags(generation, name, from, count)
  local reached = taggedUpTo(generation, name)
  if reached < from then return end
  redis.call('HSET', generation, 'tagged', name .. ':' .. string.format('%d', math.max(reached, from + count)))
end
`;

/** Writes chunks; the number of fields comes before the fields of each chunk. */
const WRITE_CHUNKS = `
for i = first, #KEYS do
  local fields = tonumber(ARGV[at])
  redis.call('HSET', KEYS[i], unpack(ARGV, at + 1, at + fields))
  at = at + fields + 1
end
`;

/**
 * Answers -2 when a chunk is to be found by another name of its file than the one in the terms to be written. Chunks of
 * earlier versions do not say by which name they are found.
 */
const AS_NAMED = `
for i = first, #KEYS do
  local held = redis.call('HGET', KEYS[i], 'named')
  if named ~= '*' and held and held ~= named then return -2 end
end
`;

/** The first argument is the mark of the name that the terms hold, `*` where no terms are written. */
export const writeScript = defineScript<number>(`${GUARD}
local first, at, named = 2, 2, ARGV[1]
${AS_NAMED}${WRITE_CHUNKS}
return 1`);

/**
 * Writes the texts of consecutive chunks with their tags, and notes in the generation how many texts there are. Refuses
 * texts whose predecessors are missing, which a Redis that came back without its last writes may have lost.
 */
export const writeTextsScript = defineScript<number>(`${NOTE_TAGS}${GUARD}${AT_REVISION}
local written, from = tonumber(redis.call('HGET', KEYS[1], 'written') or '0'), tonumber(ARGV[2])
if written < from then return redis.error_reply('ERR the texts before these are missing') end
local first, at = 3, 4
${WRITE_CHUNKS}
redis.call('HSET', KEYS[1], 'written', math.max(written, from + #KEYS - 2))
if taggedUpTo(KEYS[1], ARGV[3]) < from then redis.call('HDEL', KEYS[1], 'tagged')
else noteTags(KEYS[1], ARGV[3], from, #KEYS - 2) end
return 1`);

/** Answers -2 when the chunks before these have other tags, or have lost theirs. */
export const writeTagsScript = defineScript<number>(`${NOTE_TAGS}${GUARD}${AT_REVISION}
local from = tonumber(ARGV[4])
if taggedUpTo(KEYS[1], ARGV[3]) < from then return -2 end
for i = 3, #KEYS do redis.call('HSET', KEYS[i], 'tags', ARGV[2]) end
noteTags(KEYS[1], ARGV[3], from, #KEYS - 2)
return 1`);

/**
 * Does the work of the script above, and writes the terms of chunks whose file has another name now, with the changes of
 * the statistics that count them. Answers 0 where a chunk, or its counting owner, is not as it was when these were made.
 */
export const renameScript = defineScript<number>(`${NOTE_TAGS}${CHANGE_FUNCTION}${GUARD}${AT_REVISION}
local from, chunks = tonumber(ARGV[4]), #KEYS - 3
if taggedUpTo(KEYS[1], ARGV[3]) < from then return -2 end
local counted = redis.call('HMGET', KEYS[1], ARGV[5], ARGV[6])
if (counted[1] or '') ~= ARGV[7] or (counted[2] or '') ~= ARGV[8] then return 0 end
for i = 1, chunks do
  local held = redis.call('HGET', KEYS[3 + i], 'named') or ''
  if redis.call('HEXISTS', KEYS[3 + i], 'terms') == 1 then held = held .. '+' end
  if ARGV[8 + i] ~= '*' and held ~= ARGV[8 + i] then return 0 end
end
local at = 9 + chunks
local last = at + tonumber(ARGV[at])
if last > at then
  redis.call('HINCRBY', KEYS[3], 'length', ARGV[at + 1])
  change(KEYS[3], 1, at + 2, last)
end
local first = 4
at = last + 1
${WRITE_CHUNKS}
for i = 4, #KEYS do redis.call('HSET', KEYS[i], 'tags', ARGV[2]) end
noteTags(KEYS[1], ARGV[3], from, chunks)
return 1`);

/** Writes fields of a generation, the number of its chunks first. */
export const closeScript = defineScript<number>(`${GUARD}
if tonumber(redis.call('HGET', KEYS[1], 'written') or '0') < tonumber(ARGV[2]) then
  return redis.error_reply('ERR texts are missing')
end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1`);

/** Notes in a generation that some of its texts were embedded in parts. */
export const noteInPartsScript = defineScript<number>(`${GUARD}
redis.call('HSET', KEYS[1], 'in_parts', '1')
return 1`);

/** Starts to count the batch. The number of arguments of the count comes before them, and both before the chunks. */
const COUNT_CHUNKS = `
local counted = tonumber(ARGV[at])
step(generation, statistics, at + 1, at + counted)
at = at + counted + 1
`;

/**
 * Writes the last chunks of a batch and starts to count the whole batch in one step, so that whatever
 * is counted can be forgotten again. The other chunks, whose keys come first, must be there: a Redis
 * that came back without its last writes may have lost them.
 */
export const countedScript = defineScript<number>(`${COUNT_FUNCTION}${GUARD}
local generation, statistics, first, at, named = KEYS[1], KEYS[2], 3, 4, ARGV[3]
${AS_NAMED}first = 3 + tonumber(ARGV[2])
for i = 3, first - 1 do
  if redis.call('HEXISTS', KEYS[i], ARGV[1]) == 0 then return redis.error_reply('ERR the batch has no vectors') end
end
${COUNT_CHUNKS}${WRITE_CHUNKS}
return 1`);

/**
 * A Lua function for the script that commits a record: writes a generation with all its chunks, embedded and closed, and
 * counts them. `at` is the place of its first argument; the statistics and the chunks are the last keys, from `first` on.
 */
export const WHOLE_FUNCTION = `${COUNT_FUNCTION}
local function writeWhole(generation, first, at)
  local statistics = KEYS[first]
  local fields = tonumber(ARGV[at])
  redis.call('HSET', generation, unpack(ARGV, at + 1, at + fields))
  first, at = first + 1, at + fields + 1
  ${COUNT_CHUNKS}${WRITE_CHUNKS}
end
`;

/**
 * Marks a batch as embedded. Checks that its parts are there, since a Redis that came
 * back without its last writes may have lost them.
 */
export const finishScript = defineScript<number>(`${GUARD}
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 0 then return redis.error_reply('ERR the batch has no vectors') end
if redis.call('HEXISTS', KEYS[1], ARGV[4]) == 0 and redis.call('HGET', KEYS[1], ARGV[5]) ~= 'nobody' then
  return redis.error_reply('ERR the batch is not counted')
end
if redis.call('HSETNX', KEYS[1], ARGV[1], '1') == 1 then
  return redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
end
return tonumber(redis.call('HGET', KEYS[1], ARGV[2]))
`);

/** Tells whether somebody's statistics hold a batch or a part of it, which can only be forgotten by the terms of its chunks. */
const IS_HELD = `
local function isHeld(generation, countedField, partField)
  return redis.call('HEXISTS', generation, countedField) == 1
    or (redis.call('HGET', generation, partField) or 'nobody') ~= 'nobody'
end
`;

/**
 * Unlinks chunks of a batch. Answers -1 when the generation is not to be cleaned away any more, and -2 when the batch is still
 * counted.
 */
export const unlinkScript = defineScript<number>(`${IS_HELD}
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then return -1 end
if isHeld(KEYS[2], ARGV[2], ARGV[3]) then return -2 end
return redis.call('UNLINK', unpack(KEYS, 3))
`);

/**
 * Notes that the next batch of a generation is cleaned away, when neither a chunk nor a count of it is left. Answers 0
 * otherwise: Redis came back with older data then, and the work continues from the notes in it.
 */
export const cleanedScript = defineScript<number>(
  `${IS_HELD}
local batch = tonumber(ARGV[2])
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then return -1 end
if (redis.call('HGET', KEYS[2], 'cleaned') or '0') ~= ARGV[2] then return 0 end
if isHeld(KEYS[2], ARGV[3], ARGV[4]) then return 0 end
if redis.call('EXISTS', unpack(KEYS, 3)) > 0 then return 0 end
redis.call('HSET', KEYS[2], 'cleaned', batch + 1)
return 1
`,
  { evenWhenFull: true },
);

/** Removes a generation when this many of its batches are noted as cleaned away. */
export const forgetScript = defineScript<number>(`
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then return -1 end
if (redis.call('HGET', KEYS[2], 'cleaned') or '0') ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SREM', KEYS[3], ARGV[1])
redis.call('SREM', KEYS[1], ARGV[1])
return 1
`);
