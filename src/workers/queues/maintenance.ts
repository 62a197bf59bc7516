import type { Jobs } from '../../shared/queues/jobs.js';
import { attachmentsJob, cleanJob, retagJob } from '../../shared/queues/job-kinds.js';
import type { WorkerContext } from '../context.js';
import { createRemoveReplaced } from '../ingestion/attachments/remove-replaced.js';
import { createJobTurn } from '../job-turn.js';
import type { JobHandler } from '../lane-worker.js';
import { createCleanJob } from '../maintenance/clean-job.js';
import { startMakingRoom } from '../maintenance/make-room.js';
import {
  createObjectLists,
  createRemoveUnreferencedObjects,
} from '../maintenance/remove-unreferenced-objects.js';
import { createRetagWithMemory, type createRetagJob } from '../maintenance/retag-job.js';
import { startSweepSchedule } from '../maintenance/sweep/schedule.js';
import { createSweep } from '../maintenance/sweep/sweep.js';
import type { LaneService, QueueService } from './queue-service.js';

const KEEPS_NO_SOURCES =
  'workers.keep_sources_seconds is 0: a Redis that comes back without its last seconds may refer to sources that are gone';

export async function serveMaintenance(context: WorkerContext): Promise<QueueService> {
  const { settings, jobs, logger, redis, metrics } = context;
  const everyMilliseconds = settings.workers.sweepSeconds * 1_000;
  const clean = createCleanJob(context);
  const retag = createRetagWithMemory(context);
  const removeReplaced = createRemoveReplaced(context);
  const keepMilliseconds = settings.workers.keepSourcesSeconds * 1_000;
  const objects = createObjectLists({
    ...context,
    keepMilliseconds,
    isDiskShort: context.disks.data.isShort,
  });
  const removeObjects = createRemoveUnreferencedObjects({ ...context, objects });
  if (keepMilliseconds === 0) logger.warn(KEEPS_NO_SOURCES);
  // Earlier versions ran sweeps as jobs of a scheduler.
  await jobs.queue('maintenance').removeJobScheduler('sweep');
  const sweepSchedule = startSweepSchedule({
    redis,
    logger,
    everyMilliseconds,
    sweep: createSweep({ ...context, removeObjects, clean, graceMs: Math.min(everyMilliseconds, 10_000) }),
    leaseMilliseconds: 3 * settings.workers.lockSeconds * 1_000,
    onSwept: ({ outcome, seconds }) => {
      const labels = { queue: 'maintenance', job: 'sweep', outcome };
      metrics.add('quire_jobs_total', labels);
      metrics.observe('quire_job_duration_seconds', labels, seconds);
    },
  });
  const handlers: LaneService['handlers'] = {
    ...createLongJobs({ jobs, clean, retag }),
    'remove-replaced': { run: ({ data }) => removeReplaced(attachmentsJob.parse(data)) },
    sweep: { run: () => Promise.resolve('stale') },
  };
  const makingRoom = startMakingRoom(context);
  const close = () => {
    makingRoom.close();
    return Promise.resolve();
  };
  return { lanes: [{ lane: 'maintenance', concurrency: 4, handlers }], sweepSchedule, close };
}

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
