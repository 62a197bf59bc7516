import type { Job } from 'bullmq';
import type { Records } from '../../shared/documents/records.js';
import { GaveWayError } from '../../shared/fair-scheduling/giving-way.js';
import { enterWithin, createTurns } from '../../shared/fair-scheduling/turns.js';
import { jobMarks, ingestJob } from '../../shared/queues/job-kinds.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import type { Redis } from '../../shared/redis/client.js';
import { queueKeys } from '../../shared/redis/keys.js';
import { declareScript, evenWhenFull } from '../../shared/redis/script.js';
import { TurnOverError, NotYetError } from '../job-turn.js';
import type { JobHandler, Outcome } from '../lane-worker.js';
import { FIRST_TURN_MILLISECONDS, MIN_MILLISECONDS } from '../parse/fair-queue.js';

/** Jobs for each parser: one that it reads, one that follows, and one of a caller who has come later. */
const JOBS_PER_PARSER = 3;
/** The same of one caller. */
const OWN_JOBS_PER_PARSER = 2;
/** The time for which a job beyond its caller's share keeps the place in which it was taken. */
const WAIT_MILLISECONDS = 2_000;
const AGAIN_MILLISECONDS = 50;

/**
 * Returns the least time for which a file has a parser that has given way this many times. Nobody knows beforehand which
 * files take long: the first turn only tells, so that one file of each of many callers does not keep a short one waiting
 * for long.
 */
const turnMilliseconds = (times: number): number =>
  times === 0 ? FIRST_TURN_MILLISECONDS : MIN_MILLISECONDS * 2 ** (times - 1);

const subject = ingestJob.pick({ documentId: true });

interface Parts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'read'>;
  readonly jobs: Pick<Jobs, 'nextReading'>;
  readonly parsers: number;
  /** The greatest number of jobs that are run at once. */
  readonly concurrency: number;
}

interface Reading {
  readonly signal: AbortSignal;
  readonly givesWayAfter: number;
}

/**
 * Reads files that may take long in turns of their callers. One caller never has all places of the lane. A file whose
 * parser was given to another caller is read anew in its caller's next turn, for longer.
 */
export function createSlowFiles({ redis, records, jobs, parsers, concurrency: most }: Parts) {
  const concurrency = Math.min(most, JOBS_PER_PARSER * parsers);
  const own = Math.max(1, Math.min(concurrency - 1, OWN_JOBS_PER_PARSER * parsers));
  const turns = createTurns(concurrency, { maxPerCaller: own, maxAlone: own });
  const gaveWay = createCounts(redis);
  const callerOfJob = async (job: Job) => {
    const record = await records.read(subject.parse(job.data).documentId);
    // Published content is read once more for the caller for whom its attachments are made.
    return record?.operation?.userId ?? record?.published?.carried?.callerId ?? record?.ownerId ?? '';
  };
  const run = async (
    job: Job,
    { by, signal }: { by: string; signal: AbortSignal },
    read: (reading: Reading) => Promise<Outcome>,
  ) => {
    const times = await gaveWay.of(job);
    const turn = await enterWithin(turns, WAIT_MILLISECONDS, { by, signal });
    // The place is free for another meanwhile.
    if (!turn) throw new NotYetError(AGAIN_MILLISECONDS, 'other files of the caller are being read');
    try {
      return await read({ signal, givesWayAfter: turnMilliseconds(times) });
    } catch (error) {
      if (!(error instanceof GaveWayError)) throw error;
      await gaveWay.add(job);
      throw new TurnOverError('its parser was given to another caller');
    } finally {
      turn.end();
    }
  };
  return {
    concurrency,
    run: async (job: Job, signal: AbortSignal, read: (reading: Reading) => Promise<Outcome>) =>
      run(job, { by: await callerOfJob(job), signal }, read),
    nextTurn: async (job: Job) => {
      const seconds = turnMilliseconds((await gaveWay.of(job)) - 1) / 1_000;
      return jobs.nextReading(await callerOfJob(job), seconds);
    },
  } satisfies Pick<JobHandler, 'nextTurn'> & Record<string, unknown>;
}

/** Counts in a job's hash. Another worker that takes the job knows the count, too; it goes with the job. */
const countScript = declareScript({ keys: { job: 'key' }, args: {} }).lua<number>(`
${evenWhenFull('hash', 'job')}
if redis.call('EXISTS', job) == 0 then return 0 end
return redis.call('HINCRBY', job, '${jobMarks.gaveWay}', 1)
`);

/** Counts how often the files of jobs have given way. */
function createCounts(redis: Redis) {
  return {
    of: async (job: Job) => Number((await redis.hGet(queueKeys.ofJob(job), jobMarks.gaveWay)) ?? 0),
    add: (job: Job) => countScript.run(redis, { keys: { job: queueKeys.ofJob(job) }, args: {} }),
  };
}
