import { defineScript, SERVER_TIME, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

export type DraftObjects = ReturnType<typeof createDraftObjects>;

/** The time is the server's own, since the clocks of several hosts may differ. */
const announceScript = defineScript<number>(`${SERVER_TIME}
return redis.call('ZADD', KEYS[1], string.format('%d', serverTime()), ARGV[1])
`);

/**
 * The source objects whose bytes are being stored and that no record refers to yet. The commit of the record
 * ends this. An object that stays here for long was left by a crash.
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
