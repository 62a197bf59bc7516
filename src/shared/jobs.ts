import { Queue, type ConnectionOptions, type JobsOptions } from 'bullmq';
import { z } from 'zod';
import type { Content, DocumentRecord } from './document.js';
import { createFairOrder } from './fair-order.js';
import { queueKeys, QUEUE_PREFIX, toMember } from './keys.js';
import { isQuickContent } from './quick-content.js';
import type { Redis } from './redis.js';
import type { Fence } from './transitions.js';

export { QUEUE_PREFIX };

/** Queues by what their jobs cost: processor, provider, model, bookkeeping. */
export const QUEUES = ['ingestion', 'embedding', 'cache', 'usage', 'maintenance'] as const;
export type QueueName = (typeof QUEUES)[number];

/** Lanes, each a BullMQ queue: what is read in no time never waits for a place that slow files hold. */
export const LANES = ['ingestion', 'ingestion-quick', 'embedding', 'cache', 'usage', 'maintenance'] as const;
export type LaneName = (typeof LANES)[number];

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

export function openQueue(name: LaneName, connection: ConnectionOptions): Queue {
  return new Queue(name, { connection, prefix: QUEUE_PREFIX, defaultJobOptions: defaults });
}

export const jobIds = {
  ingest: ({ documentId, version, attempt }: Fence) =>
    `ingest-${documentId}-${String(version)}-${String(attempt)}`,
  embed: ({ documentId, version, attempt }: Fence, batch: number) =>
    `embed-${documentId}-${String(version)}-${String(attempt)}-${String(batch)}`,
  clean: (generation: string) => `clean-${generation}`,
  cache: (build: string) => `cache-${build}`,
  retag: (documentId: string, mark: number) => `retag-${documentId}-${String(mark)}`,
};

/** For whom something is done, and after which request. */
export interface JobOrigin {
  readonly callerId: string;
  readonly requestId: string;
}

export type Jobs = ReturnType<typeof createJobs>;

/**
 * Adds jobs, each in its caller's turn. Adding one that waits or runs already changes nothing: its id says what it does.
 */
export function createJobs({
  connection,
  redis,
  onError,
}: {
  readonly connection: ConnectionOptions;
  readonly redis: Redis;
  readonly onError: (error: Error) => void;
}) {
  const open = new Map<LaneName, Queue>();
  const queue = (name: LaneName) => {
    const known = open.get(name);
    if (known) return known;
    const opened = openQueue(name, connection);
    opened.on('error', onError);
    open.set(name, opened);
    return opened;
  };
  const order = createFairOrder(redis);

  const add = async (lane: LaneName, flow: string, jobs: readonly NewJob[]) => {
    const costs = jobs.map(({ cost = 1 }) => cost);
    const priorities = await order.priorities(lane, flow, costs);
    const placed = jobs.map(({ name, data, opts }, i) => ({
      ...{ name, data },
      opts: { ...opts, priority: priorities[i] ?? 1 },
    }));
    const [only, ...others] = placed;
    // A bulk of one costs twice as much as a job.
    if (only && others.length === 0) await queue(lane).add(only.name, only.data, only.opts);
    else if (only) await queue(lane).addBulk(placed);
  };

  return {
    queue,
    /** @param isPatient nobody waits for it: it goes after what its caller waits for */
    addIngest: async (
      record: DocumentRecord,
      { requestId: request, isPatient = false }: { requestId: string; isPatient?: boolean },
    ) => {
      const { id: documentId, version, attempt, pending } = record;
      const data = { documentId, version, attempt, requestId: request } satisfies z.infer<typeof ingestJob>;
      const job = { name: 'ingest', data, opts: { jobId: jobIds.ingest(data) }, cost: ingestCost(record) };
      const lane = ingestLane(pending);
      await add(lane, flowOf(isPatient ? 'patient' : 'waiting', callerOf(record)), [job]);
    },
    /** Takes the job of an attempt that is over out of its lane; one that runs already finds that out by itself. */
    removeIngest: async ({ id: documentId, version, attempt, pending }: DocumentRecord) => {
      await queue(ingestLane(pending)).remove(jobIds.ingest({ documentId, version, attempt }));
    },
    addEmbeds: async (
      of: Fence,
      batches: readonly number[],
      { total, callerId, requestId: request }: JobOrigin & { total: number },
    ) => {
      const { documentId, version, attempt } = of;
      const jobs = batches.map((batch) => ({
        name: 'embed',
        data: { documentId, version, attempt, batch, batches: total, requestId: request } satisfies z.infer<
          typeof embedJob
        >,
        opts: { jobId: jobIds.embed(of, batch) },
      }));
      await add('embedding', flowOf('embed', callerId), jobs);
    },
    addCleans: async (generations: readonly string[], callerId: string) => {
      const jobs = generations.map((generation) => ({
        name: 'clean',
        data: { generation } satisfies z.infer<typeof cleanJob>,
        opts: { jobId: jobIds.clean(generation), ...repeatable },
      }));
      if (jobs.length > 0) await add('maintenance', flowOf('clean', callerId), jobs);
    },
    addRetag: async (documentId: string, mark: number, { callerId, requestId: request }: JobOrigin) => {
      const data = { documentId, mark, requestId: request } satisfies z.infer<typeof retagJob>;
      const opts = { jobId: jobIds.retag(documentId, mark), ...repeatable };
      await add('maintenance', flowOf('retag', callerId), [{ name: 'retag', data, opts }]);
    },
    addCacheBuild: async (data: z.infer<typeof cacheJob>) => {
      const opts = { jobId: jobIds.cache(data.build), ...repeatable };
      await add('cache', flowOf('build', data.ownerId), [{ name: 'build', data, opts }]);
    },
    /** What of `wanted` waits, runs or will be tried again; asked in one go. */
    areLive: async (
      wanted: readonly { readonly lane: LaneName; readonly id: string }[],
    ): Promise<boolean[]> => {
      const found = await Promise.all(
        wanted.map(({ lane, id }) => redis.hmGet(queueKeys.job(lane, id), ['name', 'finishedOn'])),
      );
      return found.map(([name, finishedOn]) => name != null && finishedOn == null);
    },
    recede: order.recede,
    close: async () => {
      await Promise.all([...open.values()].map((each) => each.close()));
    },
  };
}

interface NewJob {
  readonly name: string;
  readonly data: object;
  readonly opts: JobsOptions;
  readonly cost?: number;
}

const ingestLane = (content: Content | null): LaneName =>
  content && isQuickContent(content) ? 'ingestion-quick' : 'ingestion';

/** Each kind has turns of its own, so that no caller waits for himself: for a grant until all is cleaned, say. */
const flowOf = (kind: 'waiting' | 'patient' | 'embed' | 'clean' | 'retag' | 'build', callerId: string) =>
  `${kind}:${toMember(callerId)}`;

/** Who asked for what is being ingested. */
export const callerOf = ({ operation, ownerId }: Pick<DocumentRecord, 'operation' | 'ownerId'>): string =>
  operation?.userId ?? ownerId;

/** A long document counts as much as so many short ones. */
const COST_BYTES = 65_536;
const LARGEST_COST = 1_000;

function ingestCost({ pending }: DocumentRecord): number {
  return Math.min(LARGEST_COST, 1 + Math.floor((pending?.sizeBytes ?? 0) / COST_BYTES));
}
