import { createExactIndex, createPostings } from '../../shared/adapters/exact-index/exact-index.js';
import { createQueryEngineIndex } from '../../shared/adapters/query-engine-index/query-engine-index.js';
import { algorithmOf, chooseIndex } from '../../shared/data-set/choose-index.js';
import { claimIndex, readDataSet, watchDataSet, type DataSet } from '../../shared/data-set/data-set.js';
import type { Records } from '../../shared/documents/records.js';
import { UnavailableError } from '../../shared/errors.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { CallOptions, Embedder, Index, OnProblem } from '../../shared/ports.js';
import type { Redis } from '../../shared/redis/client.js';
import { waitForRedis } from '../../shared/redis/open.js';
import { usesEmbeddingModel } from '../../shared/settings/chosen-adapters.js';
import type { Settings } from '../../shared/settings/schema.js';
import { createTermStatistics } from '../../shared/term-statistics/term-statistics.js';
import { createDeadline, untilAborted } from '../../shared/tools/aborting.js';

/** Lists of the Query Engine read at most this many bytes of records at a time to compare them with a filter. */
const MAX_READ_BYTES = 1024 ** 2;

interface IndexOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called when the data was reindexed, so that the settings of this process are out of date. */
  readonly onDataChange: () => void;
}

/** Creates the index with its time limit, and watches whether other data is to be served. */
export async function openIndex(
  { settings, logger, signal, onDataChange }: IndexOptions,
  { redis, embedder, dataSet, records }: Pick<IndexParts, 'redis' | 'embedder' | 'dataSet' | 'records'>,
) {
  let serving: string | null = null;
  const claim = async (name: string) => {
    await claimIndex(redis, name, dataSet.vectors);
    serving = name;
  };
  const engine = await createIndex({ settings, logger, signal, redis, embedder, dataSet, records, claim });
  const unwatch = watchDataSet(redis, dataSet, { index: () => serving, onChange: onDataChange });
  const index = limitIndexTime(engine, { milliseconds: settings.search.timeoutSeconds * 1_000 });
  return { index, unwatch };
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

/** @throws IncompatibleDataError when the server or the data lacks a part that the settings ask for */
async function createIndex(parts: IndexParts): Promise<Index> {
  const { settings, logger, signal, redis, dataSet } = parts;
  // Redis may have gone away again since it was opened.
  const { name, reason } = await waitForRedis(() => chooseIndex(redis, settings.index), { logger, signal });
  logger.info({ index: name, reason }, 'index chosen');
  const onProblem: OnProblem = (message, fields) => {
    logger[fields['level'] === 'error' ? 'error' : 'warn'](fields, message);
  };
  const redisUrl = settings.redis.url;
  switch (name) {
    case 'exact':
      return createExactIndex({
        redisUrl,
        vectors: dataSet.vectors,
        // The builtin embedder's vectors are made of the terms, which the index holds anyway.
        held: usesEmbeddingModel(settings) ? 'stored' : 'of-terms',
        onProblem,
      });
    case 'query-engine': {
      const engine = await createEngine(parts, onProblem);
      return settings.search.words === 'engine'
        ? engine
        : withPostings(engine, createPostings({ redisUrl, onProblem }));
    }
  }
}

function createEngine(
  { settings, redis, embedder, dataSet, records, claim }: IndexParts,
  onProblem: OnProblem,
): Promise<Index> {
  return createQueryEngineIndex({
    redisUrl: settings.redis.url,
    onProblem,
    vectors: dataSet.vectors,
    model: embedder.model,
    algorithm: algorithmOf(settings.queryEngine),
    // The builtin embedder's vectors are nearly orthogonal, and HNSW would find three in four of them.
    efRuntime: usesEmbeddingModel(settings) ? settings.queryEngine.hnswEfRuntime : null,
    timeoutMilliseconds: settings.search.timeoutSeconds * 1_000,
    dimensions: async () => (await readDataSet(redis))?.dimensions ?? (await embedder.dimensions()),
    claim,
    readStatistics: createTermStatistics(redis).read,
    readRecords: (ids) => records.readSome(ids, MAX_READ_BYTES),
  });
}

/** Finds words by postings, and all else by the engine. It is ready when both are. */
function withPostings(engine: Index, { words, state, close }: ReturnType<typeof createPostings>): Index {
  return {
    ...engine,
    words,
    state: async () => ((await state()) === 'ready' ? engine.state() : 'loading'),
    close: async () => {
      await Promise.all([close(), engine.close()]);
    },
  };
}

/**
 * Wraps an index with a time limit. A question that takes longer fails with UnavailableError (503), and its late answer is
 * ignored, whatever of it heeds the signal. The Query Engine has the same limit of its own: it comes with each query, and
 * `engine.ts` of its adapter makes the same error of it. The members are listed one by one, so that a new member of the port
 * does not compile until it is added here.
 */
export function limitIndexTime(index: Index, { milliseconds }: { milliseconds: number }): Index {
  const inTime =
    <Request extends CallOptions, Answer>(ask: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      const deadline = createDeadline(milliseconds, request.signal);
      try {
        return await untilAborted(ask({ ...request, signal: deadline.signal }), deadline.signal);
      } catch (cause) {
        throw deadline.isOver ? new UnavailableError('index', { cause }) : cause;
      } finally {
        deadline.clear();
      }
    };
  return {
    name: index.name,
    vectors: {
      search: inTime((request) => index.vectors.search(request)),
      similarities: inTime((request) => index.vectors.similarities(request)),
    },
    words: {
      search: inTime((request) => index.words.search(request)),
      scores: inTime((request) => index.words.scores(request)),
    },
    list: inTime((request) => index.list(request)),
    count: inTime((request) => index.count(request)),
    // Neither of these asks the engine.
    state: () => index.state(),
    close: () => index.close(),
  };
}
