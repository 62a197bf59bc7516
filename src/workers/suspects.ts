import type { Job } from 'bullmq';
import { z } from 'zod';
import { untilAborted } from '../shared/tools/until-aborted.js';

/** A job fails when this many worker processes have ended abnormally while they ran it. */
export const MAX_DEATHS = 3;

/** Thrown instead of running a job that has ended too many workers. */
export class DeadlyJobError extends Error {
  override readonly name = 'DeadlyJobError';
}

/**
 * Runs jobs of which a worker has died, one after the other. BullMQ counts a death for all jobs that the worker had in
 * hand, of which most are innocent. So the deaths that follow the first are counted here, only for the job
 * that was running, and no job that ends in any other way keeps a count.
 */
export interface Suspects {
  /** Calls `run`, at once for a job that no worker has died of. @throws DeadlyJobError */
  run<Result>(job: Job, stopping: AbortSignal, run: () => Promise<Result>): Promise<Result>;
}

/** What a job's data holds beside its payload. Dashboards show it. */
const countSchema = z.looseObject({ deathsAlone: z.number().default(0) });

/** @returns the suspects of this process, which share a single line */
export function createSuspects(): Suspects {
  let last = Promise.resolve();
  return {
    run: async (job, stopping, run) => {
      if (job.stalledCounter === 0) return run();
      const before = last;
      const turn = untilAborted(before, stopping).then(() => runCounted(job, run));
      // The next one waits for those before this one, too, if this one leaves the line.
      last = Promise.allSettled([before, turn]).then(() => undefined);
      return turn;
    },
  };
}

async function runCounted<Result>(job: Job, run: () => Promise<Result>): Promise<Result> {
  const data = countSchema.parse(job.data);
  // The first death is the one that made the job a suspect.
  if (1 + data.deathsAlone >= MAX_DEATHS) throw new DeadlyJobError('workers died of it');
  await job.updateData({ ...data, deathsAlone: data.deathsAlone + 1 });
  try {
    return await run();
  } finally {
    await job.updateData({ ...data, deathsAlone: 0 });
  }
}
