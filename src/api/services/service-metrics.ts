import { valueOf } from '../../shared/at.js';
import { readReindexing } from '../../shared/data-set/data-set.js';
import type { DiskState, DiskWatch } from '../../shared/disk/disk-watch.js';
import {
  countUnfinishedIngests,
  countIngestingCallers,
  readOwnedTotals,
  type Owned,
} from '../../shared/documents/counts.js';
import { QUOTAS } from '../../shared/errors.js';
import type { Logger } from '../../shared/observability/logger.js';
import { readWorkerMetrics } from '../../shared/observability/worker-metrics.js';
import {
  renderFamilies,
  type MetricFamily,
  type MetricSample,
  type MetricsSource,
} from '../../shared/observability/prometheus.js';
import type { Index } from '../../shared/ports.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { LANES, QUEUES, type LaneName } from '../../shared/queues/lanes.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';
import { shareResult } from '../../shared/tools/coalesce-runs.js';

const CACHED_MILLISECONDS = 1_000;
const TIMEOUT_MILLISECONDS = 3_000;
/** The number of next jobs that are looked at. Since callers take turns, these include the oldest jobs of several callers. */
const NEXT_JOBS = 20;
const STATES = ['waiting', 'active', 'delayed', 'prioritized', 'failed', 'completed'] as const;

export interface ServiceMetricsParts {
  readonly redis: Redis;
  readonly jobs: Jobs;
  readonly index: Pick<Index, 'name' | 'state'>;
  readonly disks: readonly DiskWatch[];
  readonly memory: Pick<MemoryWatch, 'state'>;
  readonly logger: Logger;
}

/**
 * The metrics that concern the whole service. They are read from Redis at most once a second, with about 150 commands,
 * however much is stored. Without Redis they say only that.
 */
export function createServiceMetrics(parts: ServiceMetricsParts): MetricsSource {
  const families = shareResult(CACHED_MILLISECONDS, () => readAll(parts));
  return { families, text: async () => renderFamilies(await families()) };
}

async function readAll(parts: ServiceMetricsParts): Promise<MetricFamily[]> {
  const ofProcess = [await indexFamily(parts.index), ...(await diskFamilies(parts.disks))];
  try {
    const read = Promise.all([
      readQueues(parts.jobs),
      readCounts(parts.redis),
      readWorkers(parts.redis),
      readMemory(parts.memory),
      readUsage(parts.redis),
      readOwnedFigures(parts.redis),
      readReindexingFigures(parts.redis),
      readWorkerMetrics(parts.redis),
    ]);
    const families = await within(TIMEOUT_MILLISECONDS, read);
    return [...ofProcess, redisFamily(1), ...families.flat()];
  } catch (error) {
    // The other metrics are needed most during an outage.
    parts.logger.warn({ err: error }, 'metrics of redis cannot be read');
    return [...ofProcess, redisFamily(0)];
  }
}

async function within<Result>(milliseconds: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('redis did not answer in time'));
    }, milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const gauge = (name: string, help: string, values: readonly MetricSample[]): MetricFamily => ({
  name,
  help,
  values,
  type: 'gauge',
});

const redisFamily = (up: 0 | 1) =>
  gauge('quire_redis_up', '1 if Redis answered this scrape, else 0.', [{ labels: {}, value: up }]);

async function indexFamily(index: ServiceMetricsParts['index']): Promise<MetricFamily> {
  const value = (await index.state()) === 'ready' ? 1 : 0;
  return gauge('quire_index_ready', "1 if this process's index answers searches, else 0.", [
    { labels: { engine: index.name }, value },
  ]);
}

async function diskFamilies(disks: readonly DiskWatch[]): Promise<MetricFamily[]> {
  const states = await Promise.all(disks.map(async ({ disk, state }) => ({ disk, ...(await state()) })));
  const known = states.filter(({ free }) => Number.isFinite(free));
  const of = (read: (state: DiskState) => number) =>
    known.map((each) => ({ labels: { disk: each.disk }, value: read(each) }));
  return [
    gauge(
      'quire_disk_free_bytes',
      'Free bytes on a disk that is filled.',
      of(({ free }) => free),
    ),
    gauge(
      'quire_disk_least_bytes',
      'Below so much it takes nothing more.',
      of(({ least }) => least),
    ),
  ];
}

async function readMemory(memory: ServiceMetricsParts['memory']): Promise<MetricFamily[]> {
  const { used, share } = await memory.state();
  return [
    gauge('quire_redis_memory_bytes', 'Memory that Redis uses.', one(used)),
    gauge(
      'quire_redis_memory_limit_bytes',
      'From so much on it takes nothing more that makes data grow; absent without a limit.',
      Number.isFinite(share) ? one(share) : [],
    ),
  ];
}

async function readQueues(jobs: Jobs): Promise<MetricFamily[]> {
  const queues = await Promise.all(LANES.map((name) => readQueue(jobs, name)));
  return [
    gauge(
      'quire_queue_jobs',
      'Jobs by queue and state; finished ones are kept for a while.',
      queues.flatMap(({ queue, counts }) =>
        STATES.map((state) => ({ labels: { queue, state }, value: valueOf(counts, state) })),
      ),
    ),
    gauge(
      'quire_queue_oldest_waiting_seconds',
      'Age of the oldest of the jobs that are taken next; 0 when none waits.',
      queues.map(({ queue, oldestSeconds: value }) => ({ labels: { queue }, value })),
    ),
  ];
}

async function readQueue(jobs: Jobs, queue: LaneName) {
  const [counts, returned, placed] = await Promise.all([
    jobs.queue(queue).getJobCounts(...STATES),
    jobs.queue(queue).getWaiting(0, 0),
    jobs.queue(queue).getPrioritized(0, NEXT_JOBS - 1),
  ]);
  // @NOTE bullmq's type does not say it: a job that was removed in the meantime is null or undefined.
  const next: ({ timestamp: number } | null | undefined)[] = [...returned, ...placed];
  const now = Date.now();
  const ages = next.flatMap((job) => (job ? [(now - job.timestamp) / 1_000] : []));
  return { queue, counts: new Map(Object.entries(counts)), oldestSeconds: Math.max(0, ...ages) };
}

const one = (value: number): MetricSample[] => [{ labels: {}, value }];

async function readCounts(redis: Redis): Promise<MetricFamily[]> {
  const [ingests, { callers, most }, changed, deleted, unfinished, hidden] = await Promise.all([
    countUnfinishedIngests(redis),
    countIngestingCallers(redis),
    redis.zCard(keys.changes),
    redis.zCard(keys.tombstones),
    redis.zCard(keys.unfinished),
    redis.sCard(keys.hidden),
  ]);
  return [
    gauge('quire_ingests_waiting', 'Documents being ingested, of all callers.', one(ingests)),
    gauge('quire_ingest_callers', 'Callers that they are of.', one(callers)),
    gauge('quire_ingests_waiting_most', 'How many of them are of the busiest caller.', one(most)),
    gauge('quire_documents', 'Documents, whatever their status.', one(Math.max(0, changed - deleted))),
    gauge('quire_documents_unfinished', 'Documents that some job has still to do with.', one(unfinished)),
    gauge('quire_generations_hidden', 'Chunk sets that are being made or await removal.', one(hidden)),
  ];
}

async function readWorkers(redis: Redis): Promise<MetricFamily[]> {
  const samples = await Promise.all(
    QUEUES.map(async (queue) => ({ labels: { queue }, value: await redis.exists(keys.worker(queue)) })),
  );
  return [gauge('quire_worker_seen', '1 if a worker of the queue reported lately, else 0.', samples)];
}

/** Reads the progress of the current reindexing; no metrics when there is none. */
async function readReindexingFigures(redis: Redis): Promise<MetricFamily[]> {
  const reindexing = await readReindexing(redis);
  if (!reindexing) return [];
  return [
    gauge(
      'quire_reindexed_documents',
      'Documents that the running reindexing has done.',
      one(reindexing.documents),
    ),
    gauge('quire_reindexed_chunks', 'Chunks that it has made new vectors for.', one(reindexing.chunks)),
  ];
}

async function readOwnedFigures(redis: Redis): Promise<MetricFamily[]> {
  const { owned, refused } = await readOwnedTotals(redis);
  const samples = (figures: Owned) =>
    QUOTAS.map((quota) => ({ labels: { quota }, value: Math.max(0, figures[quota]) }));
  return [
    gauge('quire_owned', 'Documents, bytes of sources and chunks of all owners.', samples(owned)),
    {
      name: 'quire_quota_refusals_total',
      type: 'counter',
      values: samples(refused),
      help: 'Refusals because an owner had all of a quota.',
    },
  ];
}

async function readUsage(redis: Redis): Promise<MetricFamily[]> {
  const totals = Object.entries(await redis.hGetAll(keys.usageTotals));
  const values = totals.map(([field, count]) => {
    const [operation = '', status = ''] = field.split('|');
    return { labels: { operation, status }, value: Number(count) };
  });
  return [
    {
      name: 'quire_usage_operations_total',
      type: 'counter',
      values,
      help: 'Finished operations of all users, once aggregated.',
    },
  ];
}
