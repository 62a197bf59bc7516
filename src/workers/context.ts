import { createSharedViews } from '../shared/access/sharing.js';
import type { AuditLog } from '../shared/audit/audit-log.js';
import { logMalformedCache } from '../shared/caches/cache-record.js';
import { createCacheStore } from '../shared/caches/cache-store.js';
import { createCollectionStore } from '../shared/collections/collection-store.js';
import { createChunks } from '../shared/chunks/chunks.js';
import { openCacheEngines } from '../shared/create-cache-engines.js';
import { createCompleter, createEmbedder } from '../shared/create-adapters.js';
import { createObjectStorage } from '../shared/create-storage.js';
import { checkDimensions, inspectServer, openDataSet } from '../shared/data-set/data-set.js';
import { IncompatibleDataError } from '../shared/errors.js';
import { openDisks, type Disks } from '../shared/disk/disk-watch.js';
import { recordsOptions, quotasOf } from '../shared/documents/records-options.js';
import { createRecords, type Records } from '../shared/documents/records.js';
import { createMirrorPreparation } from '../shared/mirror-preparation/mirror-preparation.js';
import { createEmbedding, type Embedding } from '../shared/models/embedding.js';
import type { Logger } from '../shared/observability/logger.js';
import { createMetricsBuffer } from '../shared/observability/worker-metrics.js';
import type { Embedder, ObjectStorage } from '../shared/ports.js';
import { createJobs } from '../shared/queues/jobs.js';
import { bullConnection, type Redis } from '../shared/redis/client.js';
import { createWorkOffSet } from './work-off-set.js';
import { createMemoryWatch } from '../shared/redis/memory.js';
import { openRedis } from '../shared/redis/open.js';
import { isEmbedderRemote } from '../shared/settings/chosen-adapters.js';
import type { Settings } from '../shared/settings/schema.js';
import { createDraftObjects, MAX_SHORT_BYTES, withShortSources } from '../shared/storage/sources.js';
import { createStorageMarker } from '../shared/storage/marker.js';
import { createTermStatistics } from '../shared/term-statistics/term-statistics.js';
import { createAggregateUsage } from './aggregate-usage.js';
import { distinguishMissing } from './wait-for-storage.js';
import { createFailDocument } from './ingestion/fail-document.js';
import { createPrepareMirrors } from './ingestion/prepare-mirrors.js';
import { createPublish } from './ingestion/publish.js';
import { chunkCosts, createRoom } from './ingestion/room/room.js';
import { createPoisonJobs } from './poison-jobs.js';

export type WorkerContext = Awaited<ReturnType<typeof createWorkerContext>>;

/**
 * Everything that any worker needs, wired once. Waits for Redis.
 * @throws IncompatibleDataError for a Redis that would lose data or mix up data of two models
 */
export async function createWorkerContext(settings: Settings, logger: Logger, audit: AuditLog | null) {
  const { disks, ownStorage } = await openOwnStorage(settings, logger);
  const { embedder, completer } = await openModels(settings, logger);
  const { redis, dataSet, connection, jobs } = await connect(settings, embedder, logger);
  const isEmbeddingRemote = isEmbedderRemote(settings);
  const records = createRecords(redis, dataSet.vectors, recordsOptions(settings, logger, audit));
  const metrics = openMetrics(redis, logger);
  const embedding = openEmbedding(embedder, settings, logger);
  const workOffSet = createWorkOffSet({ logger, metrics });
  return {
    settings,
    logger,
    disks,
    audit,
    redis,
    metrics,
    connection,
    jobs,
    records,
    dataSet,
    chunks: createChunks(redis, dataSet.vectors),
    statistics: createTermStatistics(redis),
    workOffSet,
    aggregateUsage: createAggregateUsage(redis, workOffSet),
    ...openStorage(ownStorage, redis),
    embedding,
    /** True if embedding depends on a provider, which may be slow or unavailable. */
    isEmbeddingRemote,
    poisonJobs: createPoisonJobs({ redis, logger }),
    ...openMemory({ settings, disks, redis, records, embedding }),
    ...openCaches({ settings, completer, redis }, logger),
    failDocument: createFailDocument({ records, jobs, metrics }),
    publish: createPublish({ records, jobs, metrics, vectors: dataSet.vectors }),
    checkDimensions: rememberSuccess((dimensions: number) => checkDimensions(redis, dimensions)),
    close: async () => {
      await metrics.close();
      await jobs.close();
      await redis.close();
    },
  };
}

const openCaches = (
  parts: Parameters<typeof openCacheEngines>[0] & { readonly redis: Redis },
  logger: Logger,
) => ({
  caches: createCacheStore(parts.redis, logMalformedCache(logger)),
  collections: createCollectionStore(parts.redis),
  sharedViews: createSharedViews(parts.redis),
  cacheEngines: openCacheEngines(parts),
});

const openEmbedding = (model: Embedder, settings: Settings, logger: Logger): Embedding =>
  createEmbedding(model, {
    maxWaitMilliseconds: isEmbedderRemote(settings) ? 20 : 0,
    onSmallWindow: (tokens) => {
      logger.warn(
        { setting: 'chunk.size', value: settings.chunk.size, readsAbout: tokens },
        'the embedding model reads less than a chunk may hold: chunks are embedded in parts, unless chunk.size is lowered',
      );
    },
  });

async function openModels(settings: Settings, logger: Logger) {
  const onWaiting = (error: Error) => logger.warn({ err: error }, 'waiting for local models');
  const embedder = await createEmbedder(settings, { onWaiting });
  return { embedder, completer: await createCompleter(settings, { onWaiting }) };
}

async function openOwnStorage(settings: Settings, logger: Logger) {
  const disks = openDisks(settings, logger);
  const options = { disk: disks.data, blockingReadBytes: MAX_SHORT_BYTES };
  return { disks, ownStorage: await createObjectStorage(settings, logger, options) };
}

/** The storage, in which a missing object is told apart from a storage that is not the API's. */
function openStorage(storage: ObjectStorage, redis: Redis) {
  const drafts = createDraftObjects(redis);
  const storageMarker = createStorageMarker({ redis, storage, drafts });
  const known = distinguishMissing(storage, storageMarker);
  return { drafts, storageMarker, storage: withShortSources(known, redis) };
}

interface MemoryParts {
  readonly settings: Settings;
  readonly disks: Disks;
  readonly redis: Redis;
  readonly records: Records;
  readonly embedding: Embedding;
}

/** Opens the memory of Redis, and the parts that wait for enough of it. */
function openMemory({ settings, disks, redis, records, embedding }: MemoryParts) {
  const memory = createMemoryWatch(redis, settings.ingest.maxMemoryShare, disks.redis);
  const { vectorType } = settings.embedding;
  const costs = () => chunkCosts({ redis, vectorType, embedding });
  return {
    memory,
    prepareMirrors: createPrepareMirrors({ records, mirrors: createMirrorPreparation(redis), memory }),
    room: createRoom({ redis, memory, costs, quotas: quotasOf(settings) }),
  };
}

function openMetrics(redis: Redis, logger: Logger) {
  return createMetricsBuffer(redis, {
    onError: (error) => {
      logger.warn({ err: error }, 'metrics not sent yet');
    },
  });
}

/** Connects to a Redis whose data fits the settings, and opens its queues. */
async function connect({ redis: { url }, embedding }: Settings, { model }: Embedder, logger: Logger) {
  const wanted = { model, vectorType: embedding.vectorType };
  const onError = (error: Error) => logger.warn({ err: error }, 'redis connection');
  const { redis, data: dataSet } = await openRedis(
    url,
    { failFast: false, onError, logger },
    async (opened) => {
      const { problems } = await inspectServer(opened);
      if (problems.length > 0) throw new IncompatibleDataError(problems.join('; '));
      return openDataSet(opened, wanted);
    },
  );
  const connection = bullConnection(url, { failFast: false });
  return { redis, dataSet, connection, jobs: createJobs({ connection, redis, onError }) };
}

/** Runs the check again only for another value, or after a failure. */
function rememberSuccess(check: (value: number) => Promise<void>): (value: number) => Promise<void> {
  let known: number | null = null;
  return async (value) => {
    if (value === known) return;
    await check(value);
    known = value;
  };
}
