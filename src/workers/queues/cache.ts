import { cacheJob } from '../../shared/queues/job-kinds.js';
import { createBuildCache } from '../build-cache.js';
import type { WorkerContext } from '../context.js';
import { REASONS } from './fail-job.js';
import type { LaneService, QueueService } from './queue-service.js';

export function serveCache(context: WorkerContext): QueueService {
  const build = createBuildCache({ ...context, engines: context.cacheEngines });
  const handlers: LaneService['handlers'] = {
    build: {
      isNews: true,
      run: (job, signal) => build.run(cacheJob.parse(job.data), { signal }),
      failJob: (job, reason) => build.failJob(cacheJob.parse(job.data), REASONS[reason]),
    },
  };
  const concurrency = context.settings.workers.cacheConcurrency;
  return {
    lanes: [
      { lane: 'cache-quick', concurrency, handlers },
      { lane: 'cache', concurrency, handlers },
    ],
  };
}
