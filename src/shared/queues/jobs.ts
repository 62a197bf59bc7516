import type { ConnectionOptions, Queue, Job } from 'bullmq';
import { z } from 'zod';
import { at } from '../at.js';
import type { DocumentRecord } from '../document.js';
import {
  removalsOf,
  waitingOf,
  type WithAttachmentWork,
} from '../documents/attachments/attachment-changes.js';
import type { Fence } from '../documents/transitions.js';
import { jsonOrNull } from '../json-values.js';
import type { Redis } from '../redis/client.js';
import { queueKeys, keys } from '../redis/keys.js';
import { waitForRedis } from '../redis/open.js';
import { declareScript } from '../redis/script.js';
import { beginSpanFor, isTracing, traced, tracePlace, type Span } from '../tracing/tracing.js';
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
  jobIds,
  type Addition,
  type CacheSize,
  type JobOrigin,
  type NextTurn,
  type QueuedRecord,
  type cacheJob,
  type ingestGroupJob,
  type renderJob,
} from './job-kinds.js';
import { openQueue, LANES, type LaneName } from './lanes.js';

interface CreateJobsOptions {
  readonly connection: ConnectionOptions;
  readonly redis: Redis;
  readonly onError: (error: Error) => void;
}

export type Jobs = ReturnType<typeof createJobs>;

function attachmentJobsOf(record: WithAttachmentWork, requestId: string): Addition[] {
  const work = { documentId: record.id, requestId };
  const [removal] = removalsOf(record);
  const carried = waitingOf(record).length > 0 ? record.published?.carried : undefined;
  return [
    ...(removal ? [removeReplacedOf({ ...work, callerId: removal.callerId })] : []),
    ...(carried ? [makeWaitingOf({ ...work, callerId: carried.callerId })] : []),
  ];
}

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
      for (const job of attachmentJobsOf(record, requestId)) await add(job);
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

/** The largest priority of a BullMQ job. The smallest priority is served first. */
const MAX_PRIORITY = 2_097_151;
/** A virtual time beyond this is set back to the beginning, before priorities run out. */
const LATE = 1_048_576;
/** Jobs that one step of `rebase` moves, which takes Redis some milliseconds. */
const MOVED_AT_ONCE = 500;

type FairOrder = ReturnType<typeof createFairOrder>;

/**
 * Decides which job of a lane goes next, by start-time fair queueing (Goyal, Vin and Cheng 1996). The virtual time is
 * the smallest priority that waits. A job starts at the virtual time, or where its caller's last job ended if that is
 * later, and ends after its cost. So the n-th waiting job of a caller never goes before the first of another, and a
 * caller who was away has saved up nothing.
 */
function createFairOrder(redis: Redis) {
  return {
    /** Returns the priorities for jobs of a flow that are about to be added, in their order. */
    priorities: (lane: string, flow: string, costs: readonly number[]): Promise<number[]> =>
      tagScript.run(redis, {
        keys: keysOf(lane),
        args: { largest: MAX_PRIORITY, late: LATE, flow, costs: costs.map(String) },
      }),

    /**
     * Sets a virtual time that has become large back to the beginning, together with everything
     * that waits, in its order. It also brings forward jobs that came back from a retry with an
     * old priority. Answers whether there is more to do.
     */
    rebase: async (lane: string): Promise<boolean> => {
      const left = await rebaseScript.run(redis, {
        keys: keysOf(lane),
        args: { late: LATE, maxMoved: MOVED_AT_ONCE, jobPrefix: queueKeys.job(lane, '') },
      });
      return left === 1;
    },
  };
}

const keysOf = (lane: string) => ({
  waiting: queueKeys.prioritizedJobs(lane),
  turns: keys.turns(lane),
  clock: keys.virtualTime(lane),
  rebase: keys.rebase(lane),
});
const ORDER_KEYS = { waiting: 'key', turns: 'key', clock: 'key', rebase: 'key' } as const;

/** In BullMQ's sorted set of waiting jobs, the priority is in the bits above the lower 32. */
const PRELUDE = `
local function priorityAt(place)
  local entry = redis.call('ZRANGE', waiting, place, place, 'WITHSCORES')
  return entry[2] and math.floor(tonumber(entry[2]) / 4294967296)
end
local function latestTurn()
  return tonumber(redis.call('ZRANGE', turns, -1, -1, 'WITHSCORES')[2] or '0')
end
`;

/**
 * When nothing waits, all turns are over and time continues from the last of
 * them, so that a retry is not older than new jobs.
 */
const tagScript = declareScript({
  keys: ORDER_KEYS,
  args: { largest: 'number', late: 'number', flow: 'text', costs: 'list' },
}).frequentLua<number[]>(`${PRELUDE}
local now = tonumber(redis.call('GET', clock) or '1')
local head = priorityAt(0)
if head then now = math.max(now, head) else
  now = math.max(now, latestTurn())
  if now > late then now = 1 end
  redis.call('DEL', turns)
end
if redis.call('EXISTS', rebase) == 1 then largest = late end
redis.call('ZREMRANGEBYSCORE', turns, '-inf', now)
local turn = math.max(now, tonumber(redis.call('ZSCORE', turns, flow) or '0'))
local priorities = {}
for i, cost in ipairs(costs) do
  priorities[i] = math.min(math.floor(turn), largest)
  turn = math.min(turn + tonumber(cost), largest)
end
redis.call('ZADD', turns, tostring(turn), flow)
redis.call('SET', clock, tostring(now))
return priorities
`);

/**
 * Moves waiting jobs in ascending order, so that moved jobs stay ahead of the others, and new jobs, which are tagged in the
 * new time, never come after both. The positions of callers are forgotten, except the latest turn of all.
 */
const rebaseScript = declareScript({
  keys: ORDER_KEYS,
  args: { late: 'number', maxMoved: 'number', jobPrefix: 'text' },
}).lua<number>(`${PRELUDE}
local function move(id, score, priority)
  redis.call('ZADD', waiting, string.format('%.0f', score), id)
  if redis.call('EXISTS', jobPrefix .. id) == 1 then redis.call('HSET', jobPrefix .. id, 'priority', priority) end
end
local head = priorityAt(0)
if not head then redis.call('DEL', rebase) return 0 end
local base = tonumber(redis.call('GET', rebase) or '0')
if base == 0 and head > late then
  base = head - 1
  redis.call('SET', rebase, base)
  redis.call('SET', clock, 1)
  redis.call('DEL', turns)
  redis.call('ZADD', turns, math.max(1, priorityAt(-1) - base), '')
end
if base > 0 then
  local from = string.format('%.0f', (base + 1) * 4294967296)
  local found = redis.call('ZRANGEBYSCORE', waiting, from, '+inf', 'WITHSCORES', 'LIMIT', 0, maxMoved)
  for i = 1, #found, 2 do
    local score = tonumber(found[i + 1]) - base * 4294967296
    move(found[i], score, math.floor(score / 4294967296))
  end
  if #found > 0 then return 1 end
  redis.call('DEL', rebase)
  return 0
end
local beyond = math.max(latestTurn(), tonumber(redis.call('GET', clock) or '1'), head)
local from = string.format('%.0f', (beyond + 1) * 4294967296)
local found = redis.call('ZRANGEBYSCORE', waiting, from, '+inf', 'LIMIT', 0, maxMoved)
for _, id in ipairs(found) do move(id, head * 4294967296, head) end
return #found == maxMoved and 1 or 0
`);

/**
 * The form in which a trace goes with jobs: the `traceparent` of the span that adds them is where BullMQ keeps such a
 * context, in the form of its package for OpenTelemetry. BullMQ's own spans are not made: it has one for each look into a
 * queue. Earlier releases pass over the field, and a job without it begins no trace.
 */
const carrierSchema = z.object({ traceparent: z.string() });

/** The attributes of OpenTelemetry's conventions for messaging. */
const ofQueue = (operation: 'send' | 'process', lane: LaneName) => ({
  'messaging.system': 'bullmq',
  'messaging.operation.type': operation,
  'messaging.operation.name': operation,
  'messaging.destination.name': lane,
});

/** Adds jobs as a span, which goes with them. */
export function tracedAdding(addition: Addition, add: (addition: Addition) => Promise<void>): Promise<void> {
  const { lane, jobs } = addition;
  if (!isTracing() || jobs.length === 0) return add(addition);
  const count = jobs.length;
  const attributes = {
    ...ofQueue('send', lane),
    'quire.job.name': at(jobs, 0).name,
    ...(count > 1
      ? { 'messaging.batch.message_count': count }
      : { 'messaging.message.id': at(jobs, 0).opts.jobId }),
  };
  return traced(`send ${lane}`, { kind: 'producer', attributes }, () => {
    const place = tracePlace();
    if (!place) return add(addition);
    const telemetry = { metadata: JSON.stringify({ traceparent: place.traceparent }) };
    return add({ ...addition, jobs: jobs.map((job) => ({ ...job, opts: { ...job.opts, telemetry } })) });
  });
}

/** The span of a run of a job, if it came with a trace. The first run also tells how long the job waited for it. */
export function beginJobSpan(lane: LaneName, job: Job): Span {
  const traceparent = isTracing() ? traceparentOf(job) : null;
  if (job.attemptsStarted <= 1) {
    const startedAtMs = job.timestamp;
    beginSpanFor(traceparent, 'queue wait', {
      startedAtMs,
      attributes: { 'messaging.destination.name': lane },
    }).end();
  }
  return beginSpanFor(traceparent, `process ${lane}`, {
    kind: 'consumer',
    attributes: {
      ...ofQueue('process', lane),
      'messaging.message.id': job.id,
      'quire.job.name': job.name,
      'quire.job.attempt': job.attemptsStarted,
    },
  });
}

function traceparentOf({ opts: { telemetry } }: Job): string | null {
  const carrier = telemetry?.metadata === undefined ? null : jsonOrNull(telemetry.metadata);
  return carrierSchema.safeParse(carrier).data?.traceparent ?? null;
}

type Waiting = Parameters<typeof waitForRedis>[1];

/**
 * Opens the queues and waits for their connections, so that adding jobs fails fast from then on. It waits
 * while Redis is away, and also when Redis goes away while the queues connect: a queue whose first
 * connection broke stays broken, so that all of them are opened again.
 */
export function openJobs(options: Parameters<typeof createJobs>[0], waiting: Waiting): Promise<Jobs> {
  return waitForRedis(async () => {
    const jobs = createJobs(options);
    try {
      await Promise.all(LANES.map((name) => jobs.queue(name).waitUntilReady()));
      return jobs;
    } catch (error) {
      // Closing says goodbye to Redis, which fails while it is away: a queue that had connected would go on connecting for
      // ever. Nothing waits for the end, which a queue that is being closed may never report.
      void Promise.allSettled(LANES.map((name) => jobs.queue(name).disconnect()));
      // The first error is the reason to open the queues again.
      await Promise.allSettled([jobs.close()]);
      throw error;
    }
  }, waiting);
}
