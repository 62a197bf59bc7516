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
  local count = tonumber(ARGV[at])
  redis.call('HSET', KEYS[i], unpack(ARGV, at + 1, at + count))
  at = at + count + 1
end
return 1
`;

export const writeScript = defineScript<number>(`${GUARD}
local first, at = 2, 1
${WRITE_CHUNKS}`);

/** Opens a generation with all its chunks if its document's record is at the given revision. */
export const wholeScript = defineScript<number>(`
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[3], 'document', ARGV[3], 'chunks', ARGV[4], 'tokens', ARGV[5], ARGV[6], '1', ARGV[7], '1')
local first, at = 4, 8
${WRITE_CHUNKS}`);

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

export const finishScript = defineScript<number>(`${GUARD}
if redis.call('HSETNX', KEYS[1], ARGV[1], '1') == 1 then
  return redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
end
return tonumber(redis.call('HGET', KEYS[1], ARGV[2]))
`);
