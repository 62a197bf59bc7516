import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

/** Tells whether a document of this id was deleted not long ago. */
export const wasDeleted = async (redis: Redis, documentId: string): Promise<boolean> =>
  (await redis.zScore(keys.tombstones, documentId)) !== null;
