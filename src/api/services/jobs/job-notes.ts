import type { Job } from 'bullmq';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { jobMarks, MAX_DEATHS } from '../../../shared/queues/job-kinds.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import { GROWING_QUEUES, queueOf, type LaneName } from '../../../shared/queues/lanes.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys, queueKeys } from '../../../shared/redis/keys.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import { documentsOf, planRetry, type RetryPlan } from './job-subject.js';

/** The facts about a job that operators see beside its ids. */
export interface JobNotes {
  /** The file name of its document; for a group, the name of its first one. Null for a document without a name. */
  readonly filename: string | null;
  /** The reason why it is not running; null for a job that runs or has ended. */
  readonly waits: string | null;
  /** The effect of a retry; null for a job that has not failed. */
  readonly retry: string | null;
}

export type ReadJobNotes = (lane: LaneName, job: Job) => Promise<JobNotes>;

export interface NoteParts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'read'>;
  readonly caches: Pick<CacheStore, 'read'>;
  readonly jobs: Pick<Jobs, 'queue'>;
  readonly memory: Pick<MemoryWatch, 'shortage'>;
}

export function createJobNotes(parts: NoteParts): ReadJobNotes {
  return async (lane, job) => {
    const [state, record] = await Promise.all([job.getState(), readFirst(parts, job.data)]);
    return {
      filename: (record?.pending ?? record?.published)?.filename ?? null,
      waits: await whyWaiting(parts, { lane, job, state }),
      retry: state === 'failed' ? describePlan(await planRetry(parts, job)) : null,
    };
  };
}

async function readFirst({ records }: NoteParts, data: unknown): Promise<DocumentRecord | null> {
  const [first] = documentsOf(data);
  return first === undefined ? null : records.read(first);
}

interface Seen {
  readonly lane: LaneName;
  readonly job: Job;
  readonly state: string;
}

async function whyWaiting(parts: NoteParts, { lane, job, state }: Seen): Promise<string | null> {
  if (!['waiting', 'prioritized', 'delayed'].includes(state)) return null;
  return (await whyLaneStands(parts, lane)) ?? (await whyJobWaits(parts, { lane, job, state }));
}

/** Returns the reason why all jobs of a lane wait. */
async function whyLaneStands({ redis, jobs, memory }: NoteParts, lane: LaneName): Promise<string | null> {
  const queue = queueOf(lane);
  if (await jobs.queue(lane).isPaused()) return 'the queue is paused';
  if ((await redis.exists(keys.worker(queue))) === 0) return `no worker serves ${queue}`;
  const shortage = GROWING_QUEUES.includes(queue) ? await memory.shortage() : null;
  if (shortage !== null) return `Redis is short of ${shortage}`;
  return null;
}

async function whyJobWaits({ redis }: NoteParts, { lane, job, state }: Seen): Promise<string> {
  if (state === 'delayed') {
    const known = await redis.hGet(queueKeys.ofJob(job), jobMarks.waitsFor);
    if (job.attemptsMade > 0 && job.failedReason)
      return `attempt ${String(job.attemptsMade)} failed; the next one follows`;
    return known ?? 'it was put off';
  }
  const before = await redis.zRank(queueKeys.prioritizedJobs(lane), job.id ?? '');
  return before === null ? 'its turn is next' : `its turn comes after ${String(before)} others`;
}

function describePlan(plan: RetryPlan): string {
  const limit = `it fails again when ${String(MAX_DEATHS)} workers die of it`;
  switch (plan.kind) {
    case 'document':
      return `tries the document again as attempt ${String(plan.attempt)}; ${limit}`;
    case 'cache':
      return `builds the cache again; ${limit}`;
    case 'job':
      return 'runs the job again';
    case 'nothing':
      return `does nothing: ${plan.why}`;
  }
}
