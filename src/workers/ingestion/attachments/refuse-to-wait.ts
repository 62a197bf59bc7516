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
 * Returns what says why no more documents of a caller may wait, by the limits that uploads have; null when they may. The
 * document that carries an attachment counts itself, and never fails by these.
 */
export function createRefuseToWait(
  redis: Redis,
  { maxWaiting, maxWaitingPerCaller }: Limits,
  memory: MemoryWatch,
) {
  return async (callerId: string): Promise<string | null> => {
    const [all, own, isShort] = await Promise.all([
      countUnfinishedIngests(redis),
      countUnfinishedIngestsOf(redis, callerId),
      memory.isShort(),
    ]);
    if (own >= maxWaitingPerCaller) return 'Too many documents of the caller were waiting.';
    if (all >= maxWaiting) return 'Too many documents were waiting.';
    return isShort ? 'There was no room for more documents.' : null;
  };
}
