import { createExactIndex } from '../shared/adapters/exact-index.js';
import { createPromptCacheEngine } from '../shared/adapters/prompt-cache-engine.js';
import { createQueryEngineIndex } from '../shared/adapters/query-engine-index.js';
import { createCaches } from '../shared/caches.js';
import { chooseIndex } from '../shared/choose-index.js';
import { createChunks } from '../shared/chunks.js';
import {
  algorithmOf,
  createCompleter,
  createEmbedder,
  createObjectStorage,
  storageAdvice,
} from '../shared/context.js';
import {
  claimIndex,
  DataSetError,
  inspectServer,
  openDataSet,
  readDataSet,
  type DataSet,
  type WantedData,
} from '../shared/data-set.js';
import { createDraftObjects } from '../shared/draft-objects.js';
import { createEmbedding } from '../shared/embedding.js';
import { createJobs, LANES } from '../shared/jobs.js';
import type { Logger } from '../shared/logger.js';
import { createMemoryWatch } from '../shared/memory.js';
import { openRedis, waitForRedis } from '../shared/open-redis.js';
import type { Embedder, Index } from '../shared/ports.js';
import { renderPrefix } from '../shared/prompt.js';
import { createRankers, type Ranking } from '../shared/ranking.js';
import { createReadHits } from '../shared/read-hits.js';
import { createRecords, type Records } from '../shared/records.js';
import { bullConnection, type Redis } from '../shared/redis.js';
import { createSearch } from '../shared/search.js';
import type { Settings } from '../shared/settings.js';
import { createStorageMarker } from '../shared/storage-marker.js';
import { createTermStatistics } from '../shared/term-statistics.js';
import { countTokens } from '../shared/tokens.js';
import { createUsage } from '../shared/usage.js';
import { watchDataSet } from '../shared/watch-data-set.js';
import { announceStorage } from './announce-storage.js';
import { limitIndexTime } from './index-deadline.js';
import { watchRedis } from './redis-watch.js';
import { createChangeWaiter } from './services/waiting.js';

export type ApiContext = Awaited<ReturnType<typeof createApiContext>>;

interface ContextOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** The process stops: ends the wait for a Redis that does not come, and requests' waits for their documents. */
  readonly signal: AbortSignal;
  /** There is a Redis to wait for. */
  readonly onRedisAway: () => void;
  /** The data was reindexed: this process's settings are old. */
  readonly onDataChange: () => void;
}

/** Everything that routes need, wired once. Waits for Redis; refuses one that would lose or mix data. */
export async function createApiContext(options: ContextOptions) {
  const { settings, logger, signal, onRedisAway, onDataChange } = options;
  // The tokenizer loads its table at first use, which takes a second that no request should wait for.
  countTokens('warm');
  const onError = (error: Error) => {
    logger.warn({ err: error }, 'redis connection');
  };
  const embedder = createEmbedder(settings);
  const completer = createCompleter(settings);
  const storage = await createObjectStorage(settings, logger);
  const wanted = { model: embedder.model, vectorType: settings.embedding.vectorType };
  const { redis, data: dataSet } = await openRedis(
    settings.redis.url,
    { failFast: true, onError, onAway: onRedisAway, logger, signal },
    (opened) => openData(opened, { wanted, logger }),
  );
  const unwatch = watchRedis(redis, onError);
  const drafts = createDraftObjects(redis);
  const marker = createStorageMarker({ redis, storage, drafts });
  const advice = storageAdvice(settings);
  const announced = await announceStorage({ marker, storage, advice, logger, signal });
  const connection = bullConnection(settings.redis.url, { failFast: true });
  const jobs = createJobs({ connection, redis, onError });
  // Until its first connection BullMQ waits for Redis, whatever the profile; afterwards it fails fast.
  await Promise.all(LANES.map((name) => jobs.queue(name).waitUntilReady()));
  const waiter = await createChangeWaiter(redis, onError, signal);
  const [records, chunks, statistics] = [
    createRecords(redis, dataSet.vectors),
    createChunks(redis, dataSet.vectors),
    createTermStatistics(redis),
  ];
  let serving: string | null = null;
  const claim = async (name: string) => {
    await claimIndex(redis, name, dataSet.vectors);
    serving = name;
  };
  const engine = await createIndex({ settings, logger, signal, redis, embedder, dataSet, records, claim });
  const unwatchData = watchDataSet(redis, dataSet, { index: () => serving, onChange: onDataChange });
  const index = limitIndexTime(engine, { milliseconds: settings.search.timeoutSeconds * 1_000 });
  const embedding = createEmbedding(embedder, {
    maxWaitMilliseconds: settings.embedder === 'openai' ? 20 : 0,
  });
  const { hybridWeight } = settings.search;
  const chooseRanker = createRankers({ standard: standardRanking(settings), hybridWeight });
  return {
    ...{ settings, logger, redis, jobs, waiter, index, records, chunks, completer, countTokens },
    memory: createMemoryWatch(redis, settings.ingest.maxMemoryShare),
    usage: createUsage(redis),
    caches: createCaches(redis),
    drafts,
    cacheEngine: createPromptCacheEngine({ completer, countTokens, renderPrefix }),
    storage: announced.storage,
    search: createSearch({ index, embedding, chooseRanker, readHits: createReadHits(redis), statistics }),
    close: async () => {
      unwatch();
      unwatchData();
      announced.close();
      waiter.close();
      await Promise.allSettled([index.close(), jobs.close()]);
      redis.destroy();
    },
  };
}

/** The builtin embedder's vectors hold nothing but words, which counting them ranks better. */
function standardRanking({ search, embedder }: Settings): Ranking {
  if (search.ranking !== 'auto') return search.ranking;
  return embedder === 'builtin' ? 'lexical' : 'semantic';
}

interface IndexParts {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
  readonly redis: Redis;
  readonly embedder: Embedder;
  readonly dataSet: DataSet;
  readonly records: Records;
  readonly claim: (index: string) => Promise<void>;
}

/** @throws DataSetError when the server or the data does not have what the settings ask for */
async function createIndex({
  settings,
  logger,
  signal,
  redis,
  embedder,
  dataSet,
  records,
  claim,
}: IndexParts): Promise<Index> {
  // Redis may go away again since it was opened.
  const { name, reason } = await waitForRedis(() => chooseIndex(redis, settings.index), { logger, signal });
  logger.info({ index: name, reason }, 'index chosen');
  const onProblem = (message: string, fields: Readonly<Record<string, unknown>>) => {
    logger[fields['level'] === 'error' ? 'error' : 'warn'](fields, message);
  };
  const { vectors } = dataSet;
  const redisUrl = settings.redis.url;
  switch (name) {
    case 'exact':
      return createExactIndex({ redisUrl, vectors, onProblem });
    case 'query-engine':
      return createQueryEngineIndex({
        ...{ redisUrl, onProblem, vectors, model: embedder.model },
        algorithm: algorithmOf(settings.queryEngine),
        // Of the builtin embedder's vectors, which are nearly orthogonal, a graph finds three in four.
        efRuntime: settings.embedder === 'builtin' ? null : settings.queryEngine.hnswEfRuntime,
        timeoutMilliseconds: settings.search.timeoutSeconds * 1_000,
        dimensions: async () => (await readDataSet(redis))?.dimensions ?? (await embedder.dimensions()),
        claim,
        readRecords: (ids) => records.readMany(ids),
      });
  }
}

async function openData(
  redis: Redis,
  { wanted, logger }: { wanted: WantedData; logger: Logger },
): Promise<DataSet> {
  const { problems, warnings } = await inspectServer(redis);
  if (problems.length > 0) throw new DataSetError(problems.join('; '));
  const dataSet = await openDataSet(redis, wanted);
  for (const warning of warnings) logger.warn({ warning }, 'redis set-up');
  return dataSet;
}
