import type { WorkerContext } from '../context.js';
import type { LaneService, QueueService } from './queue-service.js';

const AGGREGATE_EVERY_MS = 2_000;

export async function serveUsage({ settings, jobs, aggregateUsage }: WorkerContext): Promise<QueueService> {
  const template = { name: 'aggregate', opts: passing };
  await jobs.queue('usage').upsertJobScheduler('aggregate', { every: AGGREGATE_EVERY_MS }, template);
  const { keepDays, keepRecords } = settings.usage;
  const handlers: LaneService['handlers'] = {
    aggregate: {
      run: async () => {
        await aggregateUsage({ keepDays, keepRecords });
        return 'done';
      },
    },
  };
  return { lanes: [{ lane: 'usage', concurrency: 1, handlers }] };
}

/** A scheduler adds its job again and again, so finished ones are not kept. */
const passing = { removeOnComplete: true, removeOnFail: { count: 50 }, attempts: 1 };
