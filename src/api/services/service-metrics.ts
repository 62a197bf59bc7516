import { readReindexing } from '../../shared/data-set/reindexing.js';
import type { Logger } from '../../shared/observability/logger.js';
import { readStoredMetrics } from '../../shared/observability/metrics.js';
import {
  renderFamilies,
  type MetricFamily,
  type MetricSample,
} from '../../shared/observability/prometheus.js';
import type { Index } from '../../shared/ports.js';
import { LANES, QUEUES, type Jobs, type LaneName } from '../../shared/queues/jobs.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';

const CACHED_MILLISECONDS = 1_000;
const TIMEOUT_MILLISECONDS = 3_000;
/** Each of so many callers has its oldest job among these. */
const NEXT_JOBS = 20;
const STATES = ['waiting', 'active', 'delayed', 'prioritized', 'failed', 'completed'] as const;

export interface ServiceMetricsParts {
  readonly redis: Redis;
  readonly jobs: Jobs;
  readonly index: Pick<Index, 'name' | 'state'>;
  readonly logger: Logger;
}

/**
 * Prometheus text of what the whole service has in common, read from Redis at most once a second: some 150 commands at
 * most, however much is stored. Without Redis it says just that.
 */
export function createServiceMetrics(parts: ServiceMetricsParts): () => Promise<string> {
  let last: { readonly at: number; readonly text: Promise<string> } | null = null;
  return () => {
    const now = Date.now();
    if (!last || now - last.at >= CACHED_MILLISECONDS) last = { at: now, text: readAll(parts) };
    return last.text;
  };
}

async function readAll(parts: ServiceMetricsParts): Promise<string> {
  const index = await indexFamily(parts.index);
  try {
    const read = Promise.all([
      readQueues(parts.jobs),
      readCounts(parts.redis),
      readUsage(parts.redis),
      readReindexingFigures(parts.redis),
      readStoredMetrics(parts.redis),
    ]);
    const families = await within(TIMEOUT_MILLISECONDS, read);
    return renderFamilies([index, redisFamily(1), ...families.flat()]);
  } catch (error) {
    // Who is looking for the reason of an outage needs the other figures most.
    parts.logger.warn({ err: error }, 'metrics without redis');
    return renderFamilies([index, redisFamily(0)]);
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

const gauge = (name: string, help: string, samples: readonly MetricSample[]): MetricFamily => ({
  name,
  help,
  samples,
  type: 'gauge',
});

const redisFamily = (up: 0 | 1) =>
  gauge('quire_redis_up', 'Whether Redis answered this scrape.', [{ labels: {}, value: up }]);

async function indexFamily(index: ServiceMetricsParts['index']): Promise<MetricFamily> {
  const value = (await index.state()) === 'ready' ? 1 : 0;
  return gauge('quire_index_ready', "Whether this process's index answers searches.", [
    { labels: { engine: index.name }, value },
  ]);
}

async function readQueues(jobs: Jobs): Promise<MetricFamily[]> {
  const queues = await Promise.all(LANES.map((name) => readQueue(jobs, name)));
  return [
    gauge(
      'quire_queue_jobs',
      'Jobs by queue and state; finished ones are kept for a while.',
      queues.flatMap(({ queue, counts }) =>
        STATES.map((state) => ({ labels: { queue, state }, value: counts[state] ?? 0 })),
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
  // A job may go between being named and being read.
  // @NOTE bullmq's type does not say so.
  const next: ({ timestamp: number } | null | undefined)[] = [...returned, ...placed];
  const ages = next.map((job) => (job ? (Date.now() - job.timestamp) / 1_000 : 0));
  return { queue, counts, oldestSeconds: Math.max(0, ...ages) };
}

async function readCounts(redis: Redis): Promise<MetricFamily[]> {
  const [ingests, callers, [busiest], ...counts] = await Promise.all([
    redis.hLen(keys.ingests),
    redis.zCard(keys.ingestsByCaller),
    redis.zRangeWithScores(keys.ingestsByCaller, 0, 0, { REV: true }),
    redis.zCard(keys.changes),
    redis.zCard(keys.tombstones),
    redis.zCard(keys.unfinished),
    redis.sCard(keys.hidden),
    ...QUEUES.map((queue) => redis.exists(keys.worker(queue))),
  ]);
  const [changed, deleted, unfinished, hidden, ...workers] = counts;
  const one = (value: number) => [{ labels: {}, value }];
  return [
    gauge('quire_ingests_waiting', 'Documents being ingested, of all callers.', one(ingests)),
    gauge('quire_ingest_callers', 'Callers that they are of.', one(callers)),
    gauge(
      'quire_ingests_waiting_most',
      'How many of them are of the busiest caller.',
      one(busiest?.score ?? 0),
    ),
    gauge('quire_documents', 'Documents, whatever their status.', one(Math.max(0, changed - deleted))),
    gauge('quire_documents_unfinished', 'Documents that some job has still to do with.', one(unfinished)),
    gauge('quire_generations_hidden', 'Chunk sets that are being made or await removal.', one(hidden)),
    gauge(
      'quire_worker_seen',
      'Whether a worker of the queue reported lately.',
      QUEUES.map((queue, i) => ({ labels: { queue }, value: workers[i] ?? 0 })),
    ),
  ];
}

/** Nothing while no reindexing is under way. */
async function readReindexingFigures(redis: Redis): Promise<MetricFamily[]> {
  const reindexing = await readReindexing(redis);
  if (!reindexing) return [];
  const one = (value: number) => [{ labels: {}, value }];
  return [
    gauge(
      'quire_reindexed_documents',
      'Documents that the running reindexing has done.',
      one(reindexing.documents),
    ),
    gauge('quire_reindexed_chunks', 'Chunks that it has made new vectors for.', one(reindexing.chunks)),
  ];
}

async function readUsage(redis: Redis): Promise<MetricFamily[]> {
  const totals = Object.entries(await redis.hGetAll(keys.usageTotals));
  const samples = totals.map(([field, count]) => {
    const [operation = '', status = ''] = field.split('|');
    return { labels: { operation, status }, value: Number(count) };
  });
  return [
    {
      name: 'quire_usage_operations_total',
      type: 'counter',
      samples,
      help: 'Finished operations of all users, once aggregated.',
    },
  ];
}
