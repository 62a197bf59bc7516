import type { Logger } from '../shared/observability/logger.js';
import { GROWING_QUEUES, type QueueName } from '../shared/queues/lanes.js';
import { sendHeartbeat } from '../shared/redis/lease.js';
import { keys } from '../shared/redis/keys.js';
import type { MemoryWatch } from '../shared/redis/memory.js';
import { waitForRedis } from '../shared/redis/open.js';
import { lookRegularly } from '../shared/tools/repeat.js';
import type { WorkerContext } from './context.js';
import { createLaneWorker, createNoteWait } from './lane-worker.js';
import { serveCache } from './queues/cache.js';
import { serveEmbedding } from './queues/embedding.js';
import { serveIngestion } from './queues/ingestion.js';
import { serveMaintenance } from './queues/maintenance.js';
import type { QueueService } from './queues/queue-service.js';
import { serveUsage } from './queues/usage.js';

const HEARTBEAT_MS = 5_000;

export interface ServedQueue {
  close(drainMilliseconds: number): Promise<void>;
}

/** Serves one queue until it is closed. A sign of life in Redis tells `/health/ready` that the queue is served. */
export async function serveQueue(queue: QueueName, context: WorkerContext): Promise<ServedQueue> {
  const { settings, connection, logger, metrics, memory, poisonJobs } = context;
  const noteWait = createNoteWait(context.redis);
  const { lanes, sweepSchedule, close } = await openQueue(queue, context);
  const workers = lanes.map(({ lane, handlers, concurrency }) =>
    createLaneWorker({
      queue: lane,
      connection,
      concurrency,
      handlers,
      logger,
      poisonJobs,
      noteWait,
      lockMilliseconds: settings.workers.lockSeconds * 1_000,
      onFinished: ({ seconds, ...labels }) => {
        metrics.add('quire_jobs_total', labels);
        metrics.observe('quire_job_duration_seconds', labels, seconds);
      },
    }),
  );
  const onPaused = () => metrics.add('quire_queue_holds_total', { queue });
  const pauser = GROWING_QUEUES.includes(queue)
    ? pauseWhileShort({ queue, memory, lanes: workers, logger, onPaused })
    : null;
  const stopHeartbeat = await startHeartbeat(queue, context);
  return {
    close: async (drainMilliseconds) => {
      stopHeartbeat();
      pauser?.close();
      await Promise.all([
        sweepSchedule?.close(),
        ...workers.map((worker) => worker.close(drainMilliseconds)),
      ]);
      await close?.();
    },
  };
}

/** Refreshes the sign of life in Redis. Returns a function that ends that. */
async function startHeartbeat(queue: QueueName, { redis, logger }: WorkerContext): Promise<() => void> {
  const beat = () => sendHeartbeat(redis, keys.worker(queue), 3 * HEARTBEAT_MS);
  // Redis may have gone away again since the process started.
  await waitForRedis(beat, { logger });
  const heartbeat = setInterval(() => {
    beat().catch((error: unknown) => {
      logger.warn({ queue, err: error }, 'heartbeat failed');
    });
  }, HEARTBEAT_MS);
  return () => clearInterval(heartbeat);
}

async function openQueue(queue: QueueName, context: WorkerContext): Promise<QueueService> {
  switch (queue) {
    case 'ingestion':
      return serveIngestion(context);
    case 'embedding':
      return serveEmbedding(context);
    case 'maintenance':
      return serveMaintenance(context);
    case 'usage':
      return serveUsage(context);
    case 'cache':
      return serveCache(context);
  }
}

const LOOK_EVERY_MILLISECONDS = 500;

interface Lane {
  pause(): Promise<void>;
  resume(): Promise<void>;
}

interface PauseOptions {
  readonly queue: string;
  readonly memory: MemoryWatch;
  readonly lanes: readonly Lane[];
  readonly logger: Logger;
  readonly onPaused: () => void;
}

/**
 * Pauses lanes while Redis is short of memory, and resumes them afterwards. Their jobs could only be delayed, each with
 * writes to Redis, so they stay in the queue instead.
 */
function pauseWhileShort({ queue, memory, lanes, logger, onPaused }: PauseOptions): { close(): void } {
  let isPaused = false;
  const look = async () => {
    const shortage = await memory.shortage();
    const isShort = shortage !== null;
    if (isShort === isPaused) return;
    isPaused = isShort;
    await Promise.all(lanes.map((lane) => (isShort ? lane.pause() : lane.resume())));
    if (isShort) onPaused();
    const { used, share } = await memory.state();
    const full = shortage === 'disk' ? 'the disk of Redis is nearly full' : 'Redis is nearly full';
    logger.warn({ queue, used, share }, isShort ? `queue held: ${full}` : 'queue goes on');
  };
  return lookRegularly(LOOK_EVERY_MILLISECONDS, look, (error) => {
    // While Redis is away nothing changes; each job checks the memory itself as well.
    logger.debug({ queue, err: error }, 'memory of redis is unknown');
  });
}
