import type { Job } from 'bullmq';
import { z } from 'zod';
import type { FailureCode } from '../shared/errors.js';
import type { LaneName, QueueName } from '../shared/queues/jobs.js';
import { cacheJob, cleanJob, embedJob, ingestJob, retagJob } from '../shared/queues/payloads.js';
import { keys } from '../shared/redis/keys.js';
import { waitForRedis } from '../shared/redis/open.js';
import { sendHeartbeat } from '../shared/redis/heartbeat.js';
import { createUnreferencedObjects } from '../shared/storage/unreferenced-objects.js';
import { countTokens } from '../shared/text/token-count.js';
import { createBuildCache } from './build-cache.js';
import type { WorkerContext } from './context.js';
import { holdWhileShort } from './hold-lanes.js';
import { createEmbedJob } from './ingestion/embed.js';
import { createIngestShort, type IngestShort } from './ingestion/ingest-short.js';
import { createIngestJob } from './ingestion/ingest.js';
import { createReadContent, createReadText } from './ingestion/read-content.js';
import { createReserveRoom, withRoom } from './ingestion/room.js';
import { createCleanJob } from './maintenance/clean.js';
import { createRemoveObjects } from './maintenance/remove-objects.js';
import { createRetagInRoom } from './maintenance/retag-in-room.js';
import { createSweep } from './maintenance/sweep/sweep.js';
import { startSweeper, type Sweeper } from './maintenance/sweeper.js';
import { startParserPool } from './parse/start-pool.js';
import { createWorker, type JobHandler } from './worker.js';

const HEARTBEAT_MS = 5_000;
const AGGREGATE_EVERY_MS = 2_000;

export interface ServedQueue {
  close(drainMilliseconds: number): Promise<void>;
}

/** Serves one queue until it is closed, and says so in Redis for `/health/ready`. */
export async function serveQueue(queue: QueueName, context: WorkerContext): Promise<ServedQueue> {
  const { settings, connection, logger, metrics, memory } = context;
  const { lanes, sweeper, close } = await served(queue, context);
  const workers = lanes.map(({ lane, handlers, concurrency }) =>
    createWorker({
      queue: lane,
      connection,
      concurrency,
      handlers,
      logger,
      lockMilliseconds: settings.workers.lockSeconds * 1_000,
      onFinished: ({ seconds, ...labels }) => {
        metrics.add('quire_jobs_total', labels);
        metrics.observe('quire_job_duration_seconds', labels, seconds);
      },
    }),
  );
  const holder = GROWING.includes(queue)
    ? holdWhileShort({
        queue,
        memory,
        lanes: workers,
        logger,
        onHeld: () => {
          metrics.add('quire_queue_holds_total', { queue });
        },
      })
    : null;
  const stopHeart = await startHeart(queue, context);
  return {
    close: async (drainMilliseconds) => {
      stopHeart();
      holder?.close();
      await Promise.all([sweeper?.close(), ...workers.map((worker) => worker.close(drainMilliseconds))]);
      await close?.();
    },
  };
}

/** Says in Redis again and again that a worker serves the queue; returns what ends that. */
async function startHeart(queue: QueueName, { redis, logger }: WorkerContext): Promise<() => void> {
  const beat = () => sendHeartbeat(redis, keys.worker(queue), 3 * HEARTBEAT_MS);
  // Redis may have gone away again since the start.
  await waitForRedis(beat, { logger });
  const heart = setInterval(() => {
    beat().catch((error: unknown) => {
      logger.warn({ queue, err: error }, 'heartbeat failed');
    });
  }, HEARTBEAT_MS);
  return () => clearInterval(heart);
}

/** Queues whose jobs make Redis grow; of `maintenance` some do, and look for themselves. */
const GROWING: readonly QueueName[] = ['ingestion', 'embedding', 'cache'];

interface ServedLane {
  readonly lane: LaneName;
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly concurrency: number;
}

interface Served {
  readonly lanes: readonly ServedLane[];
  readonly sweeper?: Sweeper;
  /** Called once no job runs any more. */
  readonly close?: () => Promise<void>;
}

async function served(queue: QueueName, context: WorkerContext): Promise<Served> {
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

async function serveIngestion(context: WorkerContext): Promise<Served> {
  const { settings, storage, logger } = context;
  const { ingest, chunk, workers } = settings;
  const parser = await startParserPool({
    user: { uid: ingest.parserUid, gid: ingest.parserGid },
    size: ingest.parserProcesses,
    memoryMegabytes: ingest.parseMemoryMegabytes,
    timeoutMilliseconds: ingest.parseSeconds * 1_000,
    maxChunks: ingest.maxChunks,
    chunk,
    logger,
  });
  const run = createIngestJob({
    ...context,
    chunks: withRoom(context.chunks, context.memory),
    reserveRoom: createReserveRoom({ ...context, vectorBytes: await vectorBytes(context) }),
    readContent: createReadContent({ storage, parser }),
    ingestShort: createShort(context),
  });
  const handlers: ServedLane['handlers'] = {
    ingest: {
      isNews: true,
      run: (job, signal) => {
        const { requestId, ...fence } = ingestJob.parse(job.data);
        return run(fence, { requestId, signal });
      },
      giveUp: giveUp(context, 'parsing'),
    },
  };
  const concurrency = workers.ingestionConcurrency;
  // One for each parser and one that follows it: what is taken no longer waits in its caller's turn.
  const slow = Math.min(concurrency, 2 * ingest.parserProcesses);
  return {
    lanes: [
      { lane: 'ingestion-quick', concurrency, handlers },
      { lane: 'ingestion', concurrency: slow, handlers },
    ],
    close: () => parser.close(),
  };
}

/** What a model answers whose name says nothing of it, before the first vector is there. */
const LIKELY_DIMENSIONS = 1_536;

async function vectorBytes({ settings, dataSet, embedding, isEmbeddingRemote }: WorkerContext) {
  const { dimensions, vectorType } = settings.embedding;
  const unknown = isEmbeddingRemote ? dimensions || LIKELY_DIMENSIONS : await embedding.dimensions();
  // The Query Engine keeps a copy of its own.
  const copies = dataSet.index === null ? 1 : 2;
  return copies * (dataSet.dimensions ?? unknown) * (vectorType === 'float16' ? 2 : 4);
}

function createShort(context: WorkerContext): IngestShort | null {
  const { settings, storage, isEmbeddingRemote } = context;
  if (isEmbeddingRemote) return null;
  countTokens('Load the encoder before the first document.');
  const chunk = { ...settings.chunk, maxChunks: settings.ingest.maxChunks };
  const chunks = withRoom(context.chunks, context.memory);
  return createIngestShort({ ...context, chunks, readText: createReadText({ storage, chunk }) });
}

function serveEmbedding(context: WorkerContext): Served {
  const run = createEmbedJob({ ...context, chunks: withRoom(context.chunks, context.memory) });
  const handlers: ServedLane['handlers'] = {
    embed: {
      run: (job, signal) => run(embedJob.parse(job.data), { signal }),
      giveUp: giveUp(context, 'embedding'),
    },
  };
  return {
    lanes: [{ lane: 'embedding', concurrency: context.settings.workers.embeddingConcurrency, handlers }],
  };
}

function serveCache(context: WorkerContext): Served {
  const build = createBuildCache({ ...context, engine: context.cacheEngine });
  const handlers: ServedLane['handlers'] = {
    build: {
      isNews: true,
      run: (job, signal) => build.run(cacheJob.parse(job.data), { signal }),
      giveUp: (job) => build.giveUp(cacheJob.parse(job.data)),
    },
  };
  return { lanes: [{ lane: 'cache', concurrency: context.settings.workers.cacheConcurrency, handlers }] };
}

/** What failed five times for no reason of the document's own must not keep its owner waiting. */
function giveUp({ failDocument }: WorkerContext, stage: string) {
  const code: FailureCode = 'internal';
  const fence = z.object({ documentId: z.string(), version: z.number(), attempt: z.number() });
  return (job: Job) =>
    failDocument(fence.parse(job.data), { code, message: 'The document could not be processed', stage });
}

const KEEPS_NO_SOURCES =
  'workers.keep_sources_seconds is 0: a Redis that comes back without its last seconds may refer to sources that are gone';

async function serveMaintenance(context: WorkerContext): Promise<Served> {
  const { settings, jobs, logger, redis, metrics } = context;
  const everyMilliseconds = settings.workers.sweepSeconds * 1_000;
  const clean = createCleanJob(context);
  const retag = createRetagInRoom(context);
  const keepMilliseconds = settings.workers.keepSourcesSeconds * 1_000;
  const objects = createUnreferencedObjects({ ...context, keepMilliseconds });
  const removeObjects = createRemoveObjects({ ...context, objects });
  if (keepMilliseconds === 0) logger.warn(KEEPS_NO_SOURCES);
  // Of the time when sweeps were jobs.
  await jobs.queue('maintenance').removeJobScheduler('sweep');
  const sweeper = startSweeper({
    redis,
    logger,
    everyMilliseconds,
    sweep: createSweep({ ...context, removeObjects, clean, graceMs: Math.min(everyMilliseconds, 10_000) }),
    leaseMilliseconds: 3 * settings.workers.lockSeconds * 1_000,
    onSwept: ({ outcome, seconds }) => {
      const labels = { queue: 'maintenance', job: 'sweep', outcome };
      metrics.add('quire_jobs_total', labels);
      metrics.observe('quire_job_duration_seconds', labels, seconds);
    },
  });
  const handlers: ServedLane['handlers'] = {
    clean: { run: (job) => clean(cleanJob.parse(job.data).generation) },
    retag: { run: (job) => retag(retagJob.parse(job.data)) },
    sweep: { run: () => Promise.resolve('stale') },
  };
  return { lanes: [{ lane: 'maintenance', concurrency: 4, handlers }], sweeper };
}

async function serveUsage({ settings, jobs, aggregateUsage }: WorkerContext): Promise<Served> {
  const template = { name: 'aggregate', opts: passing };
  await jobs.queue('usage').upsertJobScheduler('aggregate', { every: AGGREGATE_EVERY_MS }, template);
  const { keepDays, keepRecords } = settings.usage;
  const handlers: ServedLane['handlers'] = {
    aggregate: {
      run: async () => {
        await aggregateUsage({ keepDays, keepRecords });
        return 'done';
      },
    },
  };
  return { lanes: [{ lane: 'usage', concurrency: 1, handlers }] };
}

/** Jobs of schedulers come again: none is kept. */
const passing = { removeOnComplete: true, removeOnFail: { count: 50 }, attempts: 1 };
