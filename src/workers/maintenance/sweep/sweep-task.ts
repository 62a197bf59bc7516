import type { Caches } from '../../../shared/caches/caches.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { Redis } from '../../../shared/redis/client.js';
import type { EachMember, WorkedSet } from '../../../shared/redis/each-member.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import type { RemoveObjects } from '../remove-unreferenced-objects.js';

export interface SweepParts {
  readonly redis: Redis;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly caches: Caches;
  readonly removeObjects: RemoveObjects;
  readonly memory: MemoryWatch;
  /** What a job does, done here where no queue moves. */
  readonly clean: (generation: string) => Promise<unknown>;
  readonly eachMember: EachMember;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** A record is left alone this long after its last change: its next job may be on its way. */
  readonly graceMs: number;
}

/** Does one batch, and answers whether there is more of it now. */
export type SweepStep = () => Promise<boolean>;

/** One kind of what the sweeper looks after; kinds take turns, a batch each. */
export interface SweepTask {
  readonly name: string;
  /** Begins a walk. @param now in ms */
  readonly begin: (now: number) => SweepStep;
}

/**
 * Works on all members at once, so that they share round trips. One that fails stops none of the others.
 * @returns those whose work was done
 */
export async function allAtOnce<Member>(
  eachMember: EachMember,
  set: WorkedSet,
  members: readonly Member[],
  work: (member: Member) => Promise<unknown>,
): Promise<Member[]> {
  const ends = await Promise.allSettled(members.map(async (member) => work(member)));
  await eachMember(set, ends, (end) =>
    // @NOTE a reason is whatever the work threw; it goes on as it came
    end.status === 'fulfilled' ? Promise.resolve() : Promise.reject(end.reason as Error),
  );
  return members.filter((_, i) => ends[i]?.status === 'fulfilled');
}

/** Works off what `SSCAN` finds, a page a step. */
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
