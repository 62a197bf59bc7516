import {
  countUnfinishedIngests,
  countUnfinishedIngestsOf,
} from '../../../shared/documents/unfinished-ingests.js';
import type { Redis } from '../../../shared/redis/client.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';

interface Limits {
  readonly maxWaiting: number;
  readonly maxWaitingPerCaller: number;
}

/**
 * Tells whether the limits of uploads leave no room now for this many more documents of a caller. The document that carries
 * an attachment counts itself while it is read, and never fails by these limits.
 */
export type RefuseToWait = (callerId: string, documents?: number) => Promise<boolean>;

export function createRefuseToWait(
  redis: Redis,
  { maxWaiting, maxWaitingPerCaller }: Limits,
  memory: MemoryWatch,
): RefuseToWait {
  return async (callerId, documents = 1) => {
    const [all, own, isShort] = await Promise.all([
      countUnfinishedIngests(redis),
      countUnfinishedIngestsOf(redis, callerId),
      memory.isShort(),
    ]);
    // More documents than may wait at all have room when nothing else waits.
    const isFull = (count: number, most: number) => count + Math.min(documents, most) > most;
    return isShort || isFull(own, maxWaitingPerCaller) || isFull(all, maxWaiting);
  };
}
