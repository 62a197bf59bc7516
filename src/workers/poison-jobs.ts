import type { Job } from 'bullmq';
import type { Logger } from '../shared/observability/logger.js';
import { jobMarks, MAX_DEATHS } from '../shared/queues/job-kinds.js';
import type { Redis } from '../shared/redis/client.js';
import { queueKeys } from '../shared/redis/keys.js';
import { declareScript, evenWhenFull } from '../shared/redis/script.js';
import { untilAborted } from '../shared/tools/aborting.js';

/** Thrown instead of running a poison job, which has ended too many workers. Logs know it by this name. */
export class DeadlyJobError extends Error {
  override readonly name = 'DeadlyJobError';
}

/**
 * Finds poison jobs. It runs the suspects, jobs of which a worker has died, one after the other. BullMQ counts a death for
 * all jobs that the worker had in hand, most of them innocent. So the deaths after the first are counted here, only for the
 * job that was running, and no job that ends in any other way keeps a count.
 */
export interface PoisonJobs {
  /** Calls `run`, at once for a job that no worker has died of. @throws DeadlyJobError */
  run<Result>(job: Job, stopping: AbortSignal, run: () => Promise<Result>): Promise<Result>;
}

interface Counting {
  readonly redis: Redis;
  readonly logger: Logger;
}

/** Suspects of one process wait in a line for each lane, so that a long parse does not hold up embeddings. */
export function createPoisonJobs(counting: Counting): PoisonJobs {
  const lasts = new Map<string, Promise<void>>();
  return {
    run: async (job, stopping, run) => {
      if (job.stalledCounter === 0) return run();
      const before = lasts.get(job.queueName) ?? Promise.resolve();
      const turn = untilAborted(before, stopping).then(() => runCounted(counting, job, run));
      // The next one waits for the ones before this one, too, if this one leaves the line.
      lasts.set(
        job.queueName,
        Promise.allSettled([before, turn]).then(() => undefined),
      );
      return turn;
    },
  };
}

/**
 * Counts a run of a job and returns the count; at the largest count it counts nothing and returns one more. The count is a
 * field beside BullMQ's fields and goes with the job; a job that is gone gets none.
 */
const countRun = declareScript({ keys: { job: 'key' }, args: { most: 'number' } }).lua<number>(`
${evenWhenFull('hash', 'job')}
if redis.call('EXISTS', job) == 0 then return 0 end
local count = tonumber(redis.call('HGET', job, '${jobMarks.deathsAlone}') or '0') + 1
if count <= most then redis.call('HSET', job, '${jobMarks.deathsAlone}', count) end
return count
`);

/** Forgets the count of this run. Another run that has counted since keeps its count. */
const forgetRun = declareScript({ keys: { job: 'key' }, args: { count: 'text' } }).lua<number>(`
if redis.call('HGET', job, '${jobMarks.deathsAlone}') ~= count then return 0 end
return redis.call('HDEL', job, '${jobMarks.deathsAlone}')
`);

/** The first death made the job a suspect. */
const MAX_DEATHS_ALONE = MAX_DEATHS - 1;

async function runCounted<Result>(
  { redis, logger }: Counting,
  job: Job,
  run: () => Promise<Result>,
): Promise<Result> {
  const keys = { job: queueKeys.ofJob(job) };
  const count = await countRun.run(redis, { keys, args: { most: MAX_DEATHS_ALONE } });
  if (count > MAX_DEATHS_ALONE) throw new DeadlyJobError('workers died of it');
  try {
    return await run();
  } finally {
    await forgetRun.run(redis, { keys, args: { count } }).catch((error: unknown) => {
      logger.warn({ queue: job.queueName, jobId: job.id, err: error }, 'a run without a death stays counted');
    });
  }
}
