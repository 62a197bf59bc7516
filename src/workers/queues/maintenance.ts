import { createObjectLists } from '../maintenance/object-lists.js';
import type { WorkerContext } from '../context.js';
import { createCleanJob } from '../maintenance/clean-job.js';
import { createLongJobs } from '../maintenance/long-jobs.js';
import { createRemoveUnreferencedObjects } from '../maintenance/remove-unreferenced-objects.js';
import { createRetagWithMemory } from '../maintenance/retag-with-memory.js';
import { startMakingRoom } from '../maintenance/make-room.js';
import { startSweepSchedule } from '../maintenance/sweep/schedule.js';
import { createSweep } from '../maintenance/sweep/sweep.js';
import { attachmentsJob } from '../../shared/queues/payloads.js';
import { createRemoveReplaced } from '../maintenance/remove-replaced.js';
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
