import type { Job } from 'bullmq';
import type { Records } from '../../shared/documents/records.js';
import { GaveWayError } from '../../shared/fair-scheduling/giving-way.js';
import { createTurns } from '../../shared/fair-scheduling/turns.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { ingestJob } from '../../shared/queues/payloads.js';
import { createDeadline } from '../../shared/tools/deadline.js';
import { TurnOverError } from '../job-turn.js';
import type { JobHandler, Outcome } from '../lane-worker.js';
import { NotYetError } from '../not-yet.js';
import { LEAST_MILLISECONDS } from '../parse/fair-queue.js';

/** Jobs for each parser: one that it reads, one that follows, and one of a caller who has come later. */
const JOBS_PER_PARSER = 3;
/** The same of one caller. */
const OWN_JOBS_PER_PARSER = 2;
/** How long a job beyond those of its caller keeps the place in which it was taken. */
const WAIT_MILLISECONDS = 2_000;
const AGAIN_MILLISECONDS = 50;
/** Of so many files it is known how often they have given way. */
const MOST_KNOWN = 1_000;

const subject = ingestJob.pick({ documentId: true });

interface Parts {
  readonly records: Pick<Records, 'read'>;
  readonly jobs: Pick<Jobs, 'nextReading'>;
  readonly parsers: number;
  /** How many jobs are run at once at most. */
  readonly concurrency: number;
}

interface Reading {
  readonly signal: AbortSignal;
  readonly givesWayAfter: number;
}

/**
 * How files that may take long are read in turns of their callers: one caller never has all places of the lane, and a file whose
 * parser was given to another caller is read anew in its caller's next turn, for twice as long at least.
 */
export function createSlowFiles({ records, jobs, parsers, concurrency: most }: Parts) {
  const concurrency = Math.min(most, JOBS_PER_PARSER * parsers);
  const own = Math.max(1, Math.min(concurrency - 1, OWN_JOBS_PER_PARSER * parsers));
  const turns = createTurns(concurrency, { maxPerCaller: own, maxAlone: own });
  const gaveWay = createCounts();
  const callerOfJob = async (job: Job) => {
    const record = await records.read(subject.parse(job.data).documentId);
    // What is published is read once more for whom its attachments are made.
    return record?.operation?.userId ?? record?.published?.carried?.callerId ?? record?.ownerId ?? '';
  };
  const run = async (
    job: Job,
    { by, signal }: { by: string; signal: AbortSignal },
    read: (reading: Reading) => Promise<Outcome>,
  ) => {
    const leave = await enterSoon(turns, by, signal);
    const id = job.id ?? '';
    const times = gaveWay.of(id);
    try {
      return await read({ signal, givesWayAfter: LEAST_MILLISECONDS * 2 ** times });
    } catch (error) {
      if (!(error instanceof GaveWayError)) throw error;
      gaveWay.set(id, times + 1);
      throw new TurnOverError('its parser was given to another caller');
    } finally {
      leave();
    }
  };
  return {
    concurrency,
    run: async (job: Job, signal: AbortSignal, read: (reading: Reading) => Promise<Outcome>) =>
      run(job, { by: await callerOfJob(job), signal }, read),
    nextTurn: async (job: Job) => {
      const seconds = (LEAST_MILLISECONDS * 2 ** (gaveWay.of(job.id ?? '') - 1)) / 1_000;
      return jobs.nextReading(await callerOfJob(job), seconds);
    },
  } satisfies Pick<JobHandler, 'nextTurn'> & Record<string, unknown>;
}

/** @throws NotYetError when the caller has as many as it may have for a while, so that the place is free for another */
async function enterSoon(turns: ReturnType<typeof createTurns>, by: string, signal: AbortSignal) {
  const deadline = createDeadline(WAIT_MILLISECONDS, signal);
  try {
    return await turns.enter({ by, signal: deadline.signal });
  } catch (error) {
    if (!deadline.isOver) throw error;
    throw new NotYetError(AGAIN_MILLISECONDS, 'other files of the caller are being read');
  } finally {
    deadline.clear();
  }
}

/** Counts by job, of which the oldest are forgotten. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (id: string) => counts.get(id) ?? 0,
    set: (id: string, count: number) => {
      counts.delete(id);
      counts.set(id, count);
      const [oldest] = counts.keys();
      if (counts.size > MOST_KNOWN && oldest !== undefined) counts.delete(oldest);
    },
  };
}
