import type { ConnectionOptions, Queue } from 'bullmq';
import type { z } from 'zod';
import { at } from '../at.js';
import type { DocumentRecord } from '../document.js';
import {
  removalsOf,
  waitingOf,
  type WithAttachmentWork,
} from '../documents/attachments/attachment-changes.js';
import type { Fence } from '../documents/transitions.js';
import type { Redis } from '../redis/client.js';
import { queueKeys } from '../redis/keys.js';
import {
  cacheBuildOf,
  cleansOf,
  embedGroupOf,
  embedsOf,
  fenceOf,
  ingestLane,
  ingestOf,
  ingestsOf,
  makeWaitingOf,
  nextReadingOf,
  nextTurnOf,
  removeReplacedOf,
  renderOf,
  retagOf,
  type Addition,
  type CacheSize,
  type JobOrigin,
  type NextTurn,
  type QueuedRecord,
} from './additions.js';
import { createFairOrder, type FairOrder } from './fair-order.js';
import { tracedAdding } from './job-traces.js';
import { openQueue, type LaneName } from './lanes.js';
import { jobIds, type cacheJob, type ingestGroupJob, type renderJob } from './payloads.js';

interface CreateJobsOptions {
  readonly connection: ConnectionOptions;
  readonly redis: Redis;
  readonly onError: (error: Error) => void;
}

export type Jobs = ReturnType<typeof createJobs>;

/**
 * Adds jobs, each in its caller's turn. The id of a job names its work, so that adding a job that waits or runs already
 * changes nothing.
 */
export function createJobs({ connection, redis, onError }: CreateJobsOptions) {
  const queues = createQueues(connection, onError);
  const order = createFairOrder(redis);
  const add = (addition: Addition) =>
    tracedAdding(addition, (traced) => addInTurn(traced, queues.queue(addition.lane), order));
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
    /** Adds the jobs that do the work left on a document's attachments: making or removing documents. */
    addAttachmentWork: async (record: WithAttachmentWork, { requestId }: { requestId: string }) => {
      const [removal] = removalsOf(record);
      const { id: documentId, published } = record;
      if (removal) await add(removeReplacedOf({ documentId, callerId: removal.callerId, requestId }));
      const callerId = published?.carried?.callerId ?? '';
      if (waitingOf(record).length > 0) await add(makeWaitingOf({ documentId, callerId, requestId }));
    },
    addRetag: (documentId: string, mark: number, origin: JobOrigin) =>
      add(retagOf({ documentId, mark, ...origin })),
    /** Returns the priority with which a long job continues after its turn has ended. */
    nextTurn: (kind: 'clean' | 'retag', callerId: string) => nextOf(order, nextTurnOf(kind, callerId)),
    /** The same for a document whose parser was given to another caller, after this many seconds. */
    nextReading: (callerId: string, seconds: number) => nextOf(order, nextReadingOf(callerId, seconds)),
    addCacheBuild: (data: z.infer<typeof cacheJob>, size: CacheSize) => add(cacheBuildOf(data, size)),
    addRender: (data: z.infer<typeof renderJob>) => add(renderOf(data)),
    /** Tells whether each of the wanted jobs waits, runs or will be tried again. This takes one round trip. */
    areLive: (wanted: readonly { readonly lane: LaneName; readonly id: string }[]) => areLive(redis, wanted),
  };
}

async function nextOf(order: FairOrder, { lane, flow, spent, cost }: NextTurn): Promise<number> {
  return at(await order.priorities(lane, flow, [spent, cost]), 1);
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

async function areLive(
  redis: Redis,
  wanted: readonly { readonly lane: LaneName; readonly id: string }[],
): Promise<boolean[]> {
  const found = await Promise.all(
    wanted.map(({ lane, id }) => redis.hmGet(queueKeys.job(lane, id), ['name', 'finishedOn'])),
  );
  return found.map(([name, finishedOn]) => name != null && finishedOn == null);
}
