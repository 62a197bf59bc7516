import { keys } from './keys.js';
import type { Redis } from './redis.js';

export type DraftObjects = ReturnType<typeof createDraftObjects>;

/**
 * Source objects from before their bytes are stored until a record refers to them, which the commit of that record
 * ends: what a crash leaves here for long is nobody's.
 */
export function createDraftObjects(redis: Redis) {
  return {
    announce: async (storageKey: string): Promise<void> => {
      await redis.zAdd(keys.draftObjects, { value: storageKey, score: Date.now() });
    },
    forget: async (storageKey: string): Promise<void> => {
      await redis.zRem(keys.draftObjects, storageKey);
    },
    /** Announced before a time, in ms. */
    abandoned: (before: number): Promise<string[]> => redis.zRangeByScore(keys.draftObjects, 0, before),
  };
}
