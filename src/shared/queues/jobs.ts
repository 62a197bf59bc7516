import { Queue, type ConnectionOptions, type JobsOptions } from 'bullmq';
import type { z } from 'zod';
import { at } from '../at.js';
import { callerOf, type Content, type DocumentRecord } from '../document.js';
import { isQuickContent } from '../documents/quick-content.js';
import type { Fence } from '../documents/transitions.js';
import type { Redis } from '../redis/client.js';
import { queueKeys, QUEUE_PREFIX, toMember } from '../redis/keys.js';
import { createFairOrder, type FairOrder } from './fair-order.js';
import {
  jobIds,
  type cacheJob,
  type cleanJob,
  type embedJob,
  type ingestGroupJob,
  type ingestJob,
  type retagJob,
} from './payloads.js';

export { QUEUE_PREFIX };

/** The queues, divided by what their jobs use: processor, provider, model, or only bookkeeping. */
export const QUEUES = ['ingestion', 'embedding', 'cache', 'usage', 'maintenance'] as const;
export type QueueName = (typeof QUEUES)[number];

/**
 * The lanes, each of which is a BullMQ queue. Quick files and small caches have lanes of their own, so that they never
 * wait for slow ones, and so have groups of short texts, so that a single text never waits for them.
 */
export const LANES = [
  'ingestion',
  'ingestion-quick',
  'ingestion-groups',
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

export function openQueue(name: LaneName, connection: ConnectionOptions): Queue {
  return new Queue(name, { connection, prefix: QUEUE_PREFIX, defaultJobOptions: defaults });
}

/** The caller for whom a job runs, and the request that caused it. */
export interface JobOrigin {
  readonly callerId: string;
  readonly requestId: string;
}

/** A record that is to be ingested, and the group that it is in if it is ingested with others. */
export interface QueuedRecord {
  readonly record: DocumentRecord;
  readonly group?: string | undefined;
}

interface CreateJobsOptions {
  readonly connection: ConnectionOptions;
  readonly redis: Redis;
  readonly onError: (error: Error) => void;
}

export type Jobs = ReturnType<typeof createJobs>;

/**
 * Adds jobs, each in its caller's turn. Adding a job that waits or runs already
 * changes nothing, because its id says what it does.
 */
export function createJobs({ connection, redis, onError }: CreateJobsOptions) {
  const queues = createQueues(connection, onError);
  const order = createFairOrder(redis);
  const add = (addition: Addition) => addInTurn(addition, queues.queue(addition.lane), order);
  return {
    queue: queues.queue,
    close: queues.close,
    rebase: order.rebase,
    /** @param options.isPatient whether nobody waits for the job, so that it goes after jobs that its caller waits for */
    addIngest: (record: DocumentRecord, options: { requestId: string; isPatient?: boolean }) =>
      add(ingestOf(record, options)),
    /** The same for many records of one caller, which take their turns in this order. Those of a group share a job. */
    addIngests: async (
      queued: readonly QueuedRecord[],
      options: { requestId: string; isPatient?: boolean },
    ) => {
      await Promise.all(ingestsOf(queued, options).map(add));
    },
    /** Removes the job of an attempt that is over. A job that runs already finds this out by itself. */
    removeIngest: async (record: DocumentRecord) => {
      await queues.queue(ingestLane(record.pending)).remove(jobIds.ingest(fenceOf(record)));
    },
    /** Adds the job that ingests a group of texts with the help of a provider. */
    addEmbedGroup: (jobId: string, group: z.infer<typeof ingestGroupJob>) => add(embedGroupOf(jobId, group)),
    addEmbeds: (of: Fence, batches: readonly number[], origin: JobOrigin & { total: number }) =>
      add(embedsOf(of, batches, origin)),
    addCleans: (generations: readonly string[], callerId: string) => add(cleansOf(generations, callerId)),
    addRetag: (documentId: string, mark: number, origin: JobOrigin) =>
      add(retagOf({ documentId, mark, ...origin })),
    /** Returns the priority with which a long job continues after its turn has ended. */
    nextTurn: async (kind: 'clean' | 'retag', callerId: string): Promise<number> =>
      at(await order.priorities('maintenance', flowOf(kind, callerId), [1]), 0),
    addCacheBuild: (data: z.infer<typeof cacheJob>, size: CacheSize) => add(cacheBuildOf(data, size)),
    /** Whether each of the wanted jobs waits, runs or will be tried again. This takes one round trip. */
    areLive: (wanted: readonly { readonly lane: LaneName; readonly id: string }[]) => areLive(redis, wanted),
  };
}

/** Holds the queues of the lanes. Each is opened when it is first used. */
function createQueues(connection: ConnectionOptions, onError: (error: Error) => void) {
  const open = new Map<LaneName, Queue>();
  return {
    queue: (name: LaneName): Queue => {
      const known = open.get(name);
      if (known) return known;
      const opened = openQueue(name, connection);
      opened.on('error', onError);
      open.set(name, opened);
      return opened;
    },
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

/** Jobs for one lane that take turns in the same flow. */
interface Addition {
  readonly lane: LaneName;
  readonly flow: string;
  readonly jobs: readonly NewJob[];
}

async function addInTurn({ lane, flow, jobs }: Addition, queue: Queue, order: FairOrder): Promise<void> {
  if (jobs.length === 0) return;
  const costs = jobs.map(({ cost = 1 }) => cost);
  const priorities = await order.priorities(lane, flow, costs);
  const placed = jobs.map(({ name, data, opts }, i) => ({
    name,
    data,
    opts: { ...opts, priority: at(priorities, i) },
  }));
  const [only, ...others] = placed;
  // Adding one job in bulk costs twice as much as adding it alone.
  if (only && others.length === 0) await queue.add(only.name, only.data, only.opts);
  else await queue.addBulk(placed);
}

/** Options of jobs that the sweeper may add again under the same id. */
const repeatable: JobsOptions = { removeOnComplete: true, removeOnFail: true };

function ingestOf(
  record: DocumentRecord,
  { requestId, isPatient = false }: { requestId: string; isPatient?: boolean },
): Addition {
  const data = { ...fenceOf(record), requestId } satisfies z.infer<typeof ingestJob>;
  const opts = { jobId: jobIds.ingest(data) };
  return {
    lane: ingestLane(record.pending),
    flow: flowOf(isPatient ? 'patient' : 'waiting', callerOf(record)),
    jobs: [{ name: 'ingest', data, opts, cost: ingestCost(record) }],
  };
}

/** One addition for each lane. */
function ingestsOf(
  queued: readonly QueuedRecord[],
  options: { requestId: string; isPatient?: boolean },
): Addition[] {
  const byPlace = new Map<string, Addition[]>();
  const groups = new Map<string, DocumentRecord[]>();
  for (const { record, group } of queued)
    if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), record]);
  const alone = queued.filter(({ group }) => group === undefined);
  const additions = [
    ...alone.map(({ record }) => ingestOf(record, options)),
    ...[...groups].map(([group, records]) => ingestGroupOf(group, records, options)),
  ];
  for (const addition of additions) {
    const place = `${addition.lane} ${addition.flow}`;
    const others = byPlace.get(place);
    if (others) others.push(addition);
    else byPlace.set(place, [addition]);
  }
  return [...byPlace.values()].map((same) => ({ ...at(same, 0), jobs: same.flatMap(({ jobs }) => jobs) }));
}

/** A group costs as much as its documents, so that it takes as many turns. */
function ingestGroupOf(
  group: string,
  records: readonly DocumentRecord[],
  { requestId, isPatient = false }: { requestId: string; isPatient?: boolean },
): Addition {
  const documentIds = records.map(({ id }) => id);
  const callerId = callerOf(at(records, 0));
  const data = { documentIds, callerId, requestId } satisfies z.infer<typeof ingestGroupJob>;
  const cost = records.reduce((sum, record) => sum + ingestCost(record), 0);
  return {
    lane: 'ingestion-groups',
    flow: flowOf(isPatient ? 'patient' : 'waiting', callerId),
    jobs: [{ name: 'ingest-group', data, opts: { jobId: jobIds.ingestGroup(group) }, cost }],
  };
}

function embedGroupOf(jobId: string, data: z.infer<typeof ingestGroupJob>): Addition {
  const cost = data.documentIds.length;
  return {
    lane: 'embedding',
    flow: flowOf('embed', data.callerId),
    jobs: [{ name: 'embed-group', data, opts: { jobId }, cost }],
  };
}

function embedsOf(
  { documentId, version, attempt }: Fence,
  batches: readonly number[],
  { total, callerId, requestId }: JobOrigin & { total: number },
): Addition {
  const fence = { documentId, version, attempt };
  const jobs = batches.map((batch) => ({
    name: 'embed',
    data: { ...fence, batch, batches: total, requestId } satisfies z.infer<typeof embedJob>,
    opts: { jobId: jobIds.embed(fence, batch) },
  }));
  return { lane: 'embedding', flow: flowOf('embed', callerId), jobs };
}

function cleansOf(generations: readonly string[], callerId: string): Addition {
  const jobs = generations.map((generation) => ({
    name: 'clean',
    data: { generation, callerId } satisfies z.infer<typeof cleanJob>,
    opts: { jobId: jobIds.clean(generation), ...repeatable },
  }));
  return { lane: 'maintenance', flow: flowOf('clean', callerId), jobs };
}

function retagOf(data: z.infer<typeof retagJob>): Addition {
  const opts = { jobId: jobIds.retag(data.documentId, data.mark), ...repeatable };
  const jobs = [{ name: 'retag', data, opts }];
  return { lane: 'maintenance', flow: flowOf('retag', data.callerId), jobs };
}

/** How many documents a cache is to have. */
interface CacheSize {
  readonly documents: number;
}

function cacheBuildOf(data: z.infer<typeof cacheJob>, { documents }: CacheSize): Addition {
  const opts = { jobId: jobIds.cache(data.build), ...repeatable };
  const cost = Math.min(MAX_COST, 1 + Math.floor(documents / COST_DOCUMENTS));
  const jobs = [{ name: 'build', data, opts, cost }];
  return { lane: cacheLane({ documents }), flow: flowOf('build', data.ownerId), jobs };
}

async function areLive(
  redis: Redis,
  wanted: readonly { readonly lane: LaneName; readonly id: string }[],
): Promise<boolean[]> {
  const found = await Promise.all(
    wanted.map(({ lane, id }) => redis.hmGet(queueKeys.job(lane, id), ['name', 'finishedOn'])),
  );
  return found.map(([name, finishedOn]) => name != null && finishedOn == null);
}

const fenceOf = ({ id, version, attempt }: DocumentRecord): Fence => ({ documentId: id, version, attempt });

const ingestLane = (content: Content | null): LaneName =>
  content && isQuickContent(content) ? 'ingestion-quick' : 'ingestion';

/** A cache of this many documents costs one more than an empty one. Fewer documents are read within milliseconds. */
const COST_DOCUMENTS = 100;

export const cacheLane = ({ documents }: CacheSize): LaneName =>
  documents <= COST_DOCUMENTS ? 'cache-quick' : 'cache';

/**
 * The flow of a caller's jobs. Each kind has its own, so that callers do not wait for
 * themselves, for example a grant for a removal.
 */
const flowOf = (kind: 'waiting' | 'patient' | 'embed' | 'clean' | 'retag' | 'build', callerId: string) =>
  `${kind}:${toMember(callerId)}`;

/** A document of this size costs one more than an empty one. */
const COST_BYTES = 65_536;
const MAX_COST = 1_000;

function ingestCost({ pending }: DocumentRecord): number {
  // A record without pending content has nothing left to read.
  return Math.min(MAX_COST, 1 + Math.floor((pending?.sizeBytes ?? 0) / COST_BYTES));
}
