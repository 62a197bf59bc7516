import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

export type DraftObjects = ReturnType<typeof createDraftObjects>;

/** By the server's own clock: those of several hosts need not agree. */
const announceScript = defineScript<number>(`
local time = redis.call('TIME')
local now = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
return redis.call('ZADD', KEYS[1], now, ARGV[1])
`);

/**
 * Source objects from before their bytes are stored until a record refers to them, which the commit of that record
 * ends: what a crash leaves here for long is nobody's.
 */
export function createDraftObjects(redis: Redis) {
  return {
    announce: async (storageKey: string): Promise<void> => {
      await announceScript.run(redis, { keys: [keys.draftObjects], arguments: [storageKey] });
    },
    forget: async (storageKey: string): Promise<void> => {
      await redis.zRem(keys.draftObjects, storageKey);
    },
  };
}
