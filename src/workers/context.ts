import { createCaches } from '../shared/caches.js';
import { createChunks } from '../shared/chunks.js';
import { createCompleter, createEmbedder, createObjectStorage } from '../shared/context.js';
import { checkDimensions, inspectServer, openDataSet, DataSetError } from '../shared/data-set.js';
import { createDraftObjects } from '../shared/draft-objects.js';
import { createEmbedding } from '../shared/embedding.js';
import { createJobs } from '../shared/jobs.js';
import type { Logger } from '../shared/logger.js';
import { openRedis } from '../shared/open-redis.js';
import { createPromptCacheEngine } from '../shared/adapters/prompt-cache-engine.js';
import { renderPrefix } from '../shared/prompt.js';
import { countTokens } from '../shared/tokens.js';
import { createMemoryWatch } from '../shared/memory.js';
import { createMetricsBuffer } from '../shared/metrics.js';
import { createRecords } from '../shared/records.js';
import { bullConnection } from '../shared/redis.js';
import type { Settings } from '../shared/settings.js';
import { createStorageMarker } from '../shared/storage-marker.js';
import { createTermStatistics } from '../shared/term-statistics.js';
import { createAggregateUsage } from '../shared/aggregate-usage.js';
import { createEachMember } from '../shared/each-member.js';
import { createFailDocument } from './fail.js';
import { knowMissing } from './find-storage.js';
import { LONGEST_SHORT_BYTES } from './ingest-short.js';
import { createPublish } from './publish.js';

export type WorkerContext = Awaited<ReturnType<typeof createWorkerContext>>;

/** Everything that any worker needs, wired once. Waits for Redis; refuses one that would lose or mix data. */
export async function createWorkerContext(settings: Settings, logger: Logger) {
  const onError = (error: Error) => logger.warn({ err: error }, 'redis connection');
  const storage = await createObjectStorage(settings, logger, { blockingReadBytes: LONGEST_SHORT_BYTES });
  const embedder = createEmbedder(settings);
  const wanted = { model: embedder.model, vectorType: settings.embedding.vectorType };
  const { redis, data: dataSet } = await openRedis(
    settings.redis.url,
    { failFast: false, onError, logger },
    async (opened) => {
      const { problems } = await inspectServer(opened);
      if (problems.length > 0) throw new DataSetError(problems.join('; '));
      return openDataSet(opened, wanted);
    },
  );
  const drafts = createDraftObjects(redis);
  const storageMarker = createStorageMarker({ redis, storage, drafts });
  const isEmbeddingRemote = settings.embedder === 'openai';
  const connection = bullConnection(settings.redis.url, { failFast: false });
  const jobs = createJobs({ connection, redis, onError });
  const records = createRecords(redis, dataSet.vectors);
  const metrics = createMetricsBuffer(redis, {
    onError: (error) => {
      logger.warn({ err: error }, 'metrics not sent yet');
    },
  });
  const eachMember = createEachMember({ logger, metrics });
  return {
    settings,
    logger,
    redis,
    metrics,
    connection,
    jobs,
    records,
    dataSet,
    chunks: createChunks(redis, dataSet.vectors),
    statistics: createTermStatistics(redis),
    eachMember,
    aggregateUsage: createAggregateUsage(redis, eachMember),
    storage: knowMissing(storage, storageMarker),
    storageMarker,
    embedding: createEmbedding(embedder, { maxWaitMilliseconds: isEmbeddingRemote ? 20 : 0 }),
    /** Whether embedding can take long, or be away for a while. */
    isEmbeddingRemote,
    memory: createMemoryWatch(redis, settings.ingest.maxMemoryShare),
    caches: createCaches(redis),
    drafts,
    cacheEngine: createPromptCacheEngine({ completer: createCompleter(settings), countTokens, renderPrefix }),
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

/** Asks again only for another value, or after a failure. */
function rememberSuccess(check: (value: number) => Promise<void>): (value: number) => Promise<void> {
  let known: number | null = null;
  return async (value) => {
    if (value === known) return;
    await check(value);
    known = value;
  };
}
