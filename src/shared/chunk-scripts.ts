import { COUNT_FUNCTIONS } from './count-scripts.js';
import { defineScript } from './redis.js';

/** A generation that was discarded, or never opened, takes nothing. */
const GUARD = `
if redis.call('HEXISTS', KEYS[1], 'document') == 0 or redis.call('HEXISTS', KEYS[1], 'discarded') == 1 then
  return -1
end
`;

/** Before each chunk's fields comes their number. */
const WRITE_CHUNKS = `
for i = first, #KEYS do
  local fields = tonumber(ARGV[at])
  redis.call('HSET', KEYS[i], unpack(ARGV, at + 1, at + fields))
  at = at + fields + 1
end
`;

export const writeScript = defineScript<number>(`${GUARD}
local first, at = 2, 1
${WRITE_CHUNKS}
return 1`);

/** Before the chunks come how many of `ARGV` are to be counted, and those; 0 where nobody's statistics hold them. */
const COUNT_CHUNKS = `
local counted = tonumber(ARGV[at])
if counted > 0 then count(generation, statistics, at + 1, at + counted) end
at = at + counted + 1
`;

/**
 * Writes the last chunks of a batch and counts all of it in one step: what is counted is there to be forgotten again.
 * The others, whose keys come first, must be there; a Redis that came back without its last writes may have lost them.
 */
export const countedScript = defineScript<number>(`${COUNT_FUNCTIONS}${GUARD}
local generation, statistics, first, at = KEYS[1], KEYS[2], 3 + tonumber(ARGV[2]), 3
for i = 3, first - 1 do
  if redis.call('HEXISTS', KEYS[i], ARGV[1]) == 0 then return redis.error_reply('ERR the batch has no vectors') end
end
${COUNT_CHUNKS}${WRITE_CHUNKS}
return 1`);

/** Opens a generation with all its chunks, counted, if its document's record is at the given revision. */
export const wholeScript = defineScript<number>(`${COUNT_FUNCTIONS}
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[3], 'document', ARGV[3], 'chunks', ARGV[4], 'tokens', ARGV[5], ARGV[6], '1', ARGV[7], '1')
local generation, statistics, first, at = KEYS[3], KEYS[4], 5, 8
${COUNT_CHUNKS}${WRITE_CHUNKS}
return 1`);

/** Unlinks chunks of a generation that is still to be cleaned away; -1 when it is not (any more). */
export const unlinkScript = defineScript<number>(`
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then return -1 end
return redis.call('UNLINK', unpack(KEYS, 2))
`);

export const forgetScript = defineScript<number>(`
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SREM', KEYS[3], ARGV[1])
return redis.call('SREM', KEYS[1], ARGV[1])
`);

export const setScript = defineScript<number>(`${GUARD}
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
`);

/** A Redis that came back without its last writes may have lost what is said to be finished here. */
export const finishScript = defineScript<number>(`${GUARD}
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 0 then return redis.error_reply('ERR the batch has no vectors') end
if redis.call('HSETNX', KEYS[1], ARGV[1], '1') == 1 then
  return redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
end
return tonumber(redis.call('HGET', KEYS[1], ARGV[2]))
`);
