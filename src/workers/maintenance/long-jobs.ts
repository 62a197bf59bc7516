import type { Jobs } from '../../shared/queues/jobs.js';
import { cleanJob, retagJob } from '../../shared/queues/payloads.js';
import { createJobTurn } from '../job-turn.js';
import type { JobHandler } from '../lane-worker.js';
import type { createCleanJob } from './clean-job.js';
import type { createRetagJob } from './retag-job.js';

/** A turn of a job lasts this long, because a change of access by another caller may have to wait for its end. */
const TURN_MILLISECONDS = 250;

interface LongJobsOptions {
  readonly jobs: Pick<Jobs, 'nextTurn'>;
  readonly clean: ReturnType<typeof createCleanJob>;
  readonly retag: ReturnType<typeof createRetagJob>;
  readonly turnMilliseconds?: number;
}

/** Jobs that may take many seconds for a long document. They work in turns, so that jobs of other callers run in between. */
export function createLongJobs({
  jobs,
  clean,
  retag,
  turnMilliseconds = TURN_MILLISECONDS,
}: LongJobsOptions) {
  return {
    clean: {
      run: ({ data }) => clean(cleanJob.parse(data).generation, createJobTurn(turnMilliseconds)),
      nextTurn: ({ data }) => jobs.nextTurn('clean', cleanJob.parse(data).callerId),
    },
    retag: {
      run: ({ data }) => retag(retagJob.parse(data), createJobTurn(turnMilliseconds)),
      nextTurn: ({ data }) => jobs.nextTurn('retag', retagJob.parse(data).callerId),
    },
  } satisfies Readonly<Record<string, JobHandler>>;
}
