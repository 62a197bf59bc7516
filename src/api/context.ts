import { createSharedViews } from '../shared/access/sharing.js';
import type { AuditLog } from '../shared/audit/audit-log.js';
import { logMalformedCache } from '../shared/caches/cache-record.js';
import { createCacheStore } from '../shared/caches/cache-store.js';
import { createChunks } from '../shared/chunks/chunks.js';
import { createCompleter, createEmbedder, createReranker } from '../shared/create-adapters.js';
import { openCacheEngines } from '../shared/create-cache-engines.js';
import { createObjectStorage, storageAdvice } from '../shared/create-storage.js';
import { IncompatibleDataError } from '../shared/errors.js';
import { inspectServer, openDataSet, type DataSet, type WantedData } from '../shared/data-set/data-set.js';
import { openDisks } from '../shared/disk/disk-watch.js';
import { logMalformed } from '../shared/documents/record-fields.js';
import { recordsOptions } from '../shared/documents/records-options.js';
import { createRecords, type Records } from '../shared/documents/records.js';
import { createEmbedding, type Embedding } from '../shared/models/embedding.js';
import { modelsInUse, probesOf, type Adapters } from '../shared/models/in-use/models-in-use.js';
import { createRankers, measureFloor, type Ranking } from '../shared/search/ranking.js';
import { rememberQueries } from '../shared/models/query-vectors.js';
import { createReranking, type Reranking, type RerankOutcome } from '../shared/models/reranking.js';
import type { Logger } from '../shared/observability/logger.js';
import type { Embedder, Index, ObjectStorage, Reranker } from '../shared/ports.js';
import { bullConnection, type Redis } from '../shared/redis/client.js';
import { createMemoryWatch } from '../shared/redis/memory.js';
import { openRedis, reconnectSilentRedis } from '../shared/redis/open.js';
import { createExplainHits } from '../shared/search/explain-hits.js';
import { createHighlight } from '../shared/search/highlight.js';
import { createNewestHits } from '../shared/search/newest-hits.js';
import { createReadHits, type ReadHits } from '../shared/search/read-hits.js';
import { createRerankedSearch } from '../shared/search/reranked-search.js';
import { createRecheckHits, createSearch, type Search } from '../shared/search/search.js';
import { createWidenHits } from '../shared/search/widen-hits.js';
import { completerOf, isEmbedderRemote, usesEmbeddingModel } from '../shared/settings/chosen-adapters.js';
import type { Settings } from '../shared/settings/schema.js';
import { createDraftObjects, withShortSources } from '../shared/storage/sources.js';
import { announceStorage, createStorageMarker } from '../shared/storage/marker.js';
import { createTermStatistics } from '../shared/term-statistics/term-statistics.js';
import { countTokens } from '../shared/text/token-count.js';
import { loadOnce } from '../shared/tools/coalesce-runs.js';
import { createUsage } from '../shared/usage/usage.js';
import { createWriteBehind } from '../shared/usage/write-behind.js';
import { createCompletionLimit, createLocalCompletionLimit } from './context/limit-completions.js';
import { openIndex } from './context/open-index.js';
import { openChangeWaiter } from './services/ingest/waits.js';
import { watchModels } from './services/models/model-states.js';

export type ApiContext = Awaited<ReturnType<typeof createApiContext>>;

interface ContextOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Aborts when the process stops, and ends the wait for Redis and the waits of requests for their documents. */
  readonly signal: AbortSignal;
  /** Called when Redis is not available and has to be waited for. */
  readonly onRedisAway: () => void;
  /** Called when the data was reindexed, so that the settings of this process are out of date. */
  readonly onDataChange: () => void;
  readonly onReranked: OnReranked;
  readonly audit: AuditLog | null;
}

/**
 * Everything that routes need, wired once. Waits for Redis.
 * @throws IncompatibleDataError for a Redis that would lose data or mix up data of two models
 */
export async function createApiContext(options: ContextOptions) {
  const { settings, logger } = options;
  const onError = (error: Error) => logger.warn({ err: error }, 'redis connection');
  const { embedder, completer, reranker, limitLocal } = await openModels(options);
  const disks = openDisks(settings, logger);
  const ownStorage = await createObjectStorage(settings, logger, { disk: disks.data });
  const { redis, dataSet, stopReconnecting } = await connectRedis(options, embedder, onError);
  const records = createRecords(redis, dataSet.vectors, recordsOptions(settings, logger, options.audit));
  // The index comes first: its thread reads all data while everything else is loaded and opened here.
  const { index, unwatch } = await openIndex(options, { redis, embedder, dataSet, records });
  const { storage, drafts, stopAnnouncing } = await openStorage(options, ownStorage, redis);
  const { jobs, waiter } = await openQueues(options, redis, onError);
  const usage = { usage: createUsage(redis), usageOfReads: createWriteBehind(redis, { logger }) };
  return {
    settings,
    logger,
    redis,
    jobs,
    waiter,
    index,
    records,
    chunks: createChunks(redis, dataSet.vectors),
    disks,
    completer,
    countTokens,
    memory: createMemoryWatch(redis, settings.ingest.maxMemoryShare, disks.redis),
    ...usage,
    ...openCaches(options, { completer, limit: limitLocal, redis }),
    drafts,
    storage,
    ...openSearches({ ...options, redis, records, index, embedder, reranker, vectors: dataSet.vectors }),
    modelStates: openModelStates(options, { embedder, completer, reranker, dataSet }),
    close: async () => {
      for (const stop of [stopReconnecting, unwatch, stopAnnouncing]) stop();
      waiter.close();
      // The events come first: a queue or an index that hangs must not cost them.
      await usage.usageOfReads.close();
      await Promise.allSettled([index.close(), jobs.close()]);
      redis.destroy();
    },
  };
}

/** Opens the parts that need models. Callers take turns at completions, and waits for a local model. */
async function openModels({ settings, logger, signal }: ContextOptions) {
  const onWaiting = (error: Error) => logger.warn({ err: error }, 'waiting for local models');
  const embedder = await createEmbedder(settings, { signal, onWaiting });
  const limitLocal = createLocalCompletionLimit(settings);
  const isLocal = completerOf(settings).place.at === 'models-process';
  const limit = isLocal ? limitLocal : createCompletionLimit();
  return {
    embedder,
    completer: limit(await createCompleter(settings, { signal, onWaiting })),
    reranker: await createReranker(settings, { signal, onWaiting }),
    limitLocal,
  };
}

/** Opens the records of named caches, and the engines that answer from them. */
const openCaches = (
  { settings, logger }: ContextOptions,
  parts: Omit<Parameters<typeof openCacheEngines>[0], 'settings'> & { readonly redis: Redis },
) => ({
  caches: createCacheStore(parts.redis, logMalformedCache(logger)),
  cacheEngines: openCacheEngines({ settings, ...parts }),
});

/** Begins to probe the models in use. Nothing waits for that. */
function openModelStates(
  { settings, logger, signal }: ContextOptions,
  { dataSet, ...adapters }: Adapters & { readonly dataSet: DataSet },
) {
  const probes = settings.api.probeModels ? probesOf(settings, adapters) : {};
  const { dimensions } = dataSet;
  return watchModels({ used: modelsInUse(settings), probes, dimensions, logger, signal });
}

/** Connects to a Redis whose data fits the settings. */
async function connectRedis(
  { settings, logger, signal, onRedisAway }: ContextOptions,
  embedder: Embedder,
  onError: (error: Error) => void,
) {
  const wanted = { model: embedder.model, vectorType: settings.embedding.vectorType };
  const { redis, data: dataSet } = await openRedis(
    settings.redis.url,
    { failFast: true, onError, onAway: onRedisAway, logger, signal },
    (opened) => openData(opened, { wanted, logger }),
  );
  return { redis, dataSet, stopReconnecting: reconnectSilentRedis(redis, onError) };
}

/** Opens the queues, and the messages about documents that change. */
async function openQueues(
  { settings, logger, signal }: ContextOptions,
  redis: Redis,
  onError: (error: Error) => void,
) {
  const { openJobs } = await import('../shared/queues/jobs.js');
  const connection = bullConnection(settings.redis.url, { failFast: true });
  const jobs = await openJobs({ connection, redis, onError }, { logger, signal });
  const waiter = await openChangeWaiter(redis, onError, { logger, signal });
  return { jobs, waiter };
}

/** Announces the storage of this process, so that other processes notice when theirs is another one. */
async function openStorage(
  { settings, logger, signal }: ContextOptions,
  storage: ObjectStorage,
  redis: Redis,
) {
  const drafts = createDraftObjects(redis);
  const marker = createStorageMarker({ redis, storage, drafts });
  const advice = storageAdvice(settings);
  const announced = await announceStorage({ marker, storage, advice, logger, signal });
  return { storage: withShortSources(announced.storage, redis), drafts, stopAnnouncing: announced.close };
}

interface SearchParts extends Pick<ContextOptions, 'settings' | 'logger' | 'onReranked'> {
  readonly redis: Redis;
  readonly records: Pick<Records, 'inTurn' | 'readEach'>;
  readonly index: Index;
  readonly embedder: Embedder;
  readonly reranker: Reranker | null;
  readonly vectors: DataSet['vectors'];
}

/**
 * Opens the search with its models, the reranking search, which is null without a reranker, and the views that callers have
 * of documents of others.
 */
function openSearches(parts: SearchParts) {
  const { settings, logger, redis, records, index, reranker, onReranked } = parts;
  const readHits = createReadHits(redis, logMalformed(logger), records.inTurn);
  const embedding = openEmbedding(parts);
  const search = openSearch({ ...parts, embedding }, readHits);
  const reranking = openReranking(settings, reranker, { logger, onReranked });
  const rerankedSearch = reranking && createRerankedSearch({ search, reranking, readHits });
  return {
    embedding,
    reranking,
    search,
    newestHits: createNewestHits({ index, records, readHits }),
    rerankedSearch,
    details: {
      widen: createWidenHits(readHits),
      highlight: createHighlight(embedding),
      recheck: createRecheckHits(readHits),
      explain: createExplainHits({
        vectors: parts.index.vectors,
        chunks: createChunks(redis, parts.vectors),
        readStatistics: createTermStatistics(redis).read,
      }),
    },
    sharedViews: createSharedViews(redis, { standard: settings.search.shared }),
  };
}

const openEmbedding = ({ settings, embedder }: SearchParts): Embedding =>
  createEmbedding(embedder, { maxWaitMilliseconds: isEmbedderRemote(settings) ? 20 : 0 });

function openSearch(
  { settings, index, embedding }: SearchParts & { readonly embedding: Embedding },
  readHits: ReadHits,
): Search {
  const { hybridWeight } = settings.search;
  const parts = {
    index,
    chooseRanker: createRankers({
      standard: standardRanking(settings),
      hybridWeight,
      floor: loadOnce(() => measureFloor(embedding)),
    }),
    readHits,
  };
  const seconds = settings.embedding.rememberQueriesSeconds;
  if (!isEmbedderRemote(settings) || seconds === 0) return createSearch({ ...parts, embedding });
  const queries = rememberQueries(embedding, { seconds });
  return (request) => createSearch({ ...parts, embedding: queries.of(request.principal.id) })(request);
}

/** The builtin embedder's vectors only represent words, and lexical ranking ranks by words better. */
function standardRanking(settings: Settings): Ranking {
  const { ranking } = settings.search;
  if (ranking !== 'auto') return ranking;
  return usesEmbeddingModel(settings) ? 'semantic' : 'lexical';
}

async function openData(
  redis: Redis,
  { wanted, logger }: { wanted: WantedData; logger: Logger },
): Promise<DataSet> {
  const { problems, warnings } = await inspectServer(redis);
  if (problems.length > 0) throw new IncompatibleDataError(problems.join('; '));
  const dataSet = await openDataSet(redis, wanted);
  for (const warning of warnings) logger.warn({ warning }, 'redis set-up');
  return dataSet;
}

/** Called with the outcome of a reranking and its duration, which is null where it was not tried. */
export type OnReranked = (outcome: RerankOutcome, seconds: number | null) => void;

interface RerankingOptions {
  readonly logger: Logger;
  readonly onReranked: OnReranked;
}

/** Null without a reranker. */
function openReranking(
  settings: Settings,
  reranker: Reranker | null,
  { logger, onReranked }: RerankingOptions,
): Reranking | null {
  if (!reranker) return null;
  const { candidates, deadlineMilliseconds } = settings.reranking;
  return createReranking(reranker, {
    candidates,
    deadlineMilliseconds,
    onOutcome: onReranked,
    onFailure: (error, reason) => {
      logger.warn({ err: error, reason }, 'hits were not reranked');
    },
  });
}
