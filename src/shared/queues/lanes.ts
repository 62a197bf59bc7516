import { Queue, type ConnectionOptions, type JobsOptions } from 'bullmq';
import { QUEUE_PREFIX } from '../redis/keys.js';

/** The queues, divided by what their jobs use: processor, provider, model, or only bookkeeping. */
export const QUEUES = ['ingestion', 'embedding', 'cache', 'usage', 'maintenance'] as const;
export type QueueName = (typeof QUEUES)[number];

/**
 * The lanes, each of which is a BullMQ queue. Quick files and small caches have lanes of their own, so that they never
 * wait for slow ones, and so have groups of short texts, so that a single text never waits for them, and pages that callers
 * wait to see.
 */
export const LANES = [
  'ingestion',
  'ingestion-quick',
  'ingestion-groups',
  'ingestion-pages',
  'embedding',
  'cache',
  'cache-quick',
  'usage',
  'maintenance',
] as const;
export type LaneName = (typeof LANES)[number];

/** Where the job of a group may be: where it begins, and where it waits for a provider. */
export const GROUP_LANES = ['ingestion-groups', 'embedding'] as const;

/** The options of all jobs. Finished jobs stay for the dashboard for a limited time. */
const defaults: JobsOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: { count: 500, age: 3_600 },
  removeOnFail: { count: 2_000, age: 7 * 86_400 },
};

/** Opens the queue of a lane in BullMQ. */
export function openQueue(name: LaneName, connection: ConnectionOptions): Queue {
  return new Queue(name, { connection, prefix: QUEUE_PREFIX, defaultJobOptions: defaults });
}
