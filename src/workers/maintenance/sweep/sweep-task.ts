import type { SharedViews } from '../../../shared/access/sharing.js';
import { at } from '../../../shared/at.js';
import type { CacheEngines } from '../../../shared/caches/cache-engines.js';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { CollectionStore } from '../../../shared/collections/collection-store.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { Redis } from '../../../shared/redis/client.js';
import type { WorkOffSet, WorkedSet } from '../../work-off-set.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import type { RemoveObjects } from '../remove-unreferenced-objects.js';

export interface SweepParts {
  readonly redis: Redis;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly caches: CacheStore;
  readonly collections: Pick<CollectionStore, 'removeExpired'>;
  readonly sharedViews: Pick<SharedViews, 'predicateOf'>;
  readonly cacheEngines: Pick<CacheEngines, 'kept' | 'forget'>;
  readonly removeObjects: RemoveObjects;
  readonly memory: MemoryWatch;
  /** Does the work of a `clean` job when queues stand still. */
  readonly clean: (generation: string) => Promise<unknown>;
  readonly workOffSet: WorkOffSet;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Records that were changed within this time are skipped, because their next job may be about to be added. */
  readonly graceMs: number;
}

/** Processes one batch. Resolves with whether there is another one. */
export type SweepStep = () => Promise<boolean>;

/** One task of a sweep. Tasks take turns, a batch each. */
export interface SweepTask {
  readonly name: string;
  /** Begins the task. @param now in milliseconds since 1970 */
  readonly begin: (now: number) => SweepStep;
}

/**
 * Processes all members concurrently, so that they share round trips. A failure does not stop the others.
 * @returns the members that were processed successfully
 */
export async function allAtOnce<Member>(
  workOffSet: WorkOffSet,
  set: WorkedSet,
  members: readonly Member[],
  work: (member: Member) => Promise<unknown>,
): Promise<Member[]> {
  const works = members.map(async (member) => work(member));
  const ends = await Promise.allSettled(works);
  await workOffSet(set, works.keys(), (place) => at(works, place));
  return members.filter((_, i) => ends[i]?.status === 'fulfilled');
}

/** Processes the members of a set, one page of `SSCAN` in each step. */
export function scanSet(
  redis: Redis,
  key: string,
  { page, work }: { page: number; work: (members: string[]) => Promise<unknown> },
): SweepStep {
  let cursor = '0';
  return async () => {
    const found = await redis.sScan(key, cursor, { COUNT: page });
    cursor = found.cursor;
    if (found.members.length > 0) await work(found.members);
    return cursor !== '0';
  };
}
