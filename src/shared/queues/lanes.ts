import { Queue, type ConnectionOptions, type JobsOptions } from 'bullmq';
import { QUEUE_PREFIX } from '../redis/keys.js';

/** The queues, divided by the resource of their jobs: processor, provider, model, or only bookkeeping. */
export const QUEUES = ['ingestion', 'embedding', 'cache', 'usage', 'maintenance'] as const;
export type QueueName = (typeof QUEUES)[number];

/** Queues whose jobs make Redis grow. Some jobs of `maintenance` do as well; they check the memory themselves. */
export const GROWING_QUEUES: readonly QueueName[] = ['ingestion', 'embedding', 'cache'];

/**
 * The lanes, each a BullMQ queue, with the work of their jobs, as the board shows it. Quick files and small caches have
 * lanes of their own, so that they never wait for slow ones, and so have groups of short texts, so that a single text never
 * waits for them, and pages that callers wait to see.
 */
const lanes = {
  ingestion:
    'reads slow files (PDF, Office, mail, pictures, large texts), and attachments that wait for room',
  'ingestion-quick': 'reads texts, and Markdown, HTML, CSV and JSON up to 1 MiB',
  'ingestion-groups': 'ingests up to 32 short texts of one caller together',
  'ingestion-pages': 'draws the pages that callers wait to see',
  embedding: 'makes the vectors of chunks, in batches, and publishes documents',
  cache: 'builds named caches of more than 100 documents',
  'cache-quick': 'builds named caches of up to 100 documents',
  usage: 'adds up the usage of callers',
  maintenance: 'sweeps, removes chunks and sources that nothing refers to, and rewrites tags after changes',
} as const satisfies Record<string, string>;
export type LaneName = keyof typeof lanes;
/** The work of the jobs of each lane. */
export const LANE_PURPOSES: Readonly<Record<LaneName, string>> = lanes;
const isLane = (name: string): name is LaneName => Object.hasOwn(lanes, name);
export const LANES: LaneName[] = Object.keys(lanes).filter(isLane);

/** The queue that a worker is told to serve (`--queues`) so that it serves the lane. */
export const queueOf = (lane: LaneName): QueueName =>
  QUEUES.find((queue) => lane === queue || lane.startsWith(`${queue}-`)) ?? 'maintenance';

/** The lanes where the job of a group may be: where it begins, and where it waits for a provider. */
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
