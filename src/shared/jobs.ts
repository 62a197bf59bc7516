import { Queue, type ConnectionOptions, type JobsOptions } from 'bullmq';
import { z } from 'zod';
import type { Fence } from './transitions.js';

/** Queues by what their jobs cost: processor, provider, model, bookkeeping. */
export const QUEUES = ['ingestion', 'embedding', 'cache', 'usage', 'maintenance'] as const;
export type QueueName = (typeof QUEUES)[number];

const fence = { documentId: z.string(), version: z.number(), attempt: z.number() };
const requestId = z.string();

/** Payloads: ids only, since dashboards show them. */
export const ingestJob = z.object({ ...fence, requestId });
export const embedJob = z.object({ ...fence, batch: z.number(), batches: z.number(), requestId });
export const cleanJob = z.object({ generation: z.string() });
export const retagJob = z.object({ documentId: z.string(), mark: z.number(), requestId });
export const cacheJob = z.object({ ownerId: z.string(), name: z.string(), build: z.string(), requestId });

/** Finished jobs stay for the dashboard, a bounded while. */
const defaults: JobsOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: { count: 500, age: 3_600 },
  removeOnFail: { count: 2_000, age: 7 * 86_400 },
};

/** Jobs that the sweeper may have to add again under the same id. */
const repeatable: JobsOptions = { removeOnComplete: true, removeOnFail: true };

export function openQueue(name: QueueName, connection: ConnectionOptions): Queue {
  return new Queue(name, { connection, prefix: QUEUE_PREFIX, defaultJobOptions: defaults });
}

export const QUEUE_PREFIX = 'quire:queue';

export const jobIds = {
  ingest: ({ documentId, version, attempt }: Fence) =>
    `ingest-${documentId}-${String(version)}-${String(attempt)}`,
  embed: ({ documentId, version, attempt }: Fence, batch: number) =>
    `embed-${documentId}-${String(version)}-${String(attempt)}-${String(batch)}`,
  clean: (generation: string) => `clean-${generation}`,
  cache: (build: string) => `cache-${build}`,
  retag: (documentId: string, mark: number) => `retag-${documentId}-${String(mark)}`,
};

export type Jobs = ReturnType<typeof createJobs>;

/** Adds jobs. Adding one that waits or runs already changes nothing: its id says what it does. */
export function createJobs(connection: ConnectionOptions, onError: (error: Error) => void) {
  const open = new Map<QueueName, Queue>();
  const queue = (name: QueueName) => {
    const known = open.get(name);
    if (known) return known;
    const opened = openQueue(name, connection);
    opened.on('error', onError);
    open.set(name, opened);
    return opened;
  };

  return {
    queue,
    addIngest: async (of: Fence, request: string) => {
      const { documentId, version, attempt } = of;
      const data = { documentId, version, attempt, requestId: request } satisfies z.infer<typeof ingestJob>;
      await queue('ingestion').add('ingest', data, { jobId: jobIds.ingest(of) });
    },
    addEmbeds: async (
      of: Fence,
      batches: readonly number[],
      { total, request }: { total: number; request: string },
    ) => {
      const { documentId, version, attempt } = of;
      const jobs = batches.map((batch) => ({
        name: 'embed',
        data: { documentId, version, attempt, batch, batches: total, requestId: request } satisfies z.infer<
          typeof embedJob
        >,
        opts: { jobId: jobIds.embed(of, batch) },
      }));
      const [only, ...others] = jobs;
      // Most documents have one batch, and a bulk of one costs twice as much as a job.
      if (only && others.length === 0) await queue('embedding').add(only.name, only.data, only.opts);
      else await queue('embedding').addBulk(jobs);
    },
    addCleans: async (generations: readonly string[]) => {
      await queue('maintenance').addBulk(
        generations.map((generation) => ({
          name: 'clean',
          data: { generation } satisfies z.infer<typeof cleanJob>,
          opts: { jobId: jobIds.clean(generation), ...repeatable },
        })),
      );
    },
    addRetag: async (documentId: string, mark: number, request: string) => {
      const data = { documentId, mark, requestId: request } satisfies z.infer<typeof retagJob>;
      await queue('maintenance').add('retag', data, { jobId: jobIds.retag(documentId, mark), ...repeatable });
    },
    addCacheBuild: async (data: z.infer<typeof cacheJob>) => {
      await queue('cache').add('build', data, { jobId: jobIds.cache(data.build), ...repeatable });
    },
    close: async () => {
      await Promise.all([...open.values()].map((each) => each.close()));
    },
  };
}
