import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript, SERVER_TIME } from '../redis/script.js';

export type DraftObjects = ReturnType<typeof createDraftObjects>;

/** The time is the server's own, since the clocks of several hosts may differ. */
const announceScript = declareScript({ keys: { drafts: 'key' }, args: { object: 'text' } }).lua<number>(`
${SERVER_TIME}
return redis.call('ZADD', drafts, string.format('%d', serverTime()), object)
`);

/**
 * The source objects whose bytes are being stored and that no record refers to yet. The commit of the record
 * ends this. An object that stays here for long was left by a crash.
 */
export function createDraftObjects(redis: Redis) {
  return {
    announce: async (storageKey: string): Promise<void> => {
      await announceScript.run(redis, { keys: { drafts: keys.draftObjects }, args: { object: storageKey } });
    },
    forget: async (storageKey: string): Promise<void> => {
      await redis.zRem(keys.draftObjects, storageKey);
    },
  };
}
