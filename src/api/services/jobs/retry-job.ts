import type { Job } from 'bullmq';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import { retryBuild } from '../../../shared/caches/transitions.js';
import type { Records } from '../../../shared/documents/records.js';
import { jobMarks } from '../../../shared/queues/job-kinds.js';
import type { Redis } from '../../../shared/redis/client.js';
import { queueKeys } from '../../../shared/redis/keys.js';
import type { OperatorChanges } from '../documents/operator-changes.js';
import { planRetry } from './job-subject.js';

export interface RetryParts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'read'>;
  readonly caches: CacheStore;
  readonly operator: OperatorChanges;
}

/** Runs a finished job again, in the way of the queue. */
type RunAgain = () => Promise<void>;

export type RetryJob = (job: Job, runAgain: RunAgain) => Promise<void>;

/**
 * Retries a finished job as an operator asks for it. A job of a document that has failed would find nothing to do, so that
 * the document is tried again instead, by a job of its own. Deaths of workers count anew.
 */
export function createRetryJob({ redis, records, caches, operator }: RetryParts): RetryJob {
  return async (job, runAgain) => {
    const plan = await planRetry({ records, caches }, job);
    if (plan.kind === 'document') {
      await operator.retry(plan.documentId, requestIdOf(job.data));
      await job.remove();
      return;
    }
    if (plan.kind === 'cache') {
      const { ownerId, name, build, requestId } = plan.cache;
      await caches.update(ownerId, name, (each) => retryBuild(each, { build, requestId }));
    }
    await redis.hDel(queueKeys.ofJob(job), jobMarks.deathsAlone);
    await runAgain();
  };
}

function requestIdOf(data: unknown): string {
  const has = typeof data === 'object' && data !== null && 'requestId' in data;
  return has && typeof data.requestId === 'string' ? data.requestId : 'operator';
}
