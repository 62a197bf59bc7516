import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBuiltinCompleter } from '../shared/adapters/builtin-completer.js';
import { createBuiltinEmbedder } from '../shared/adapters/builtin-embedder.js';
import { createDiskStorage } from '../shared/adapters/disk-storage.js';
import { createExactIndex } from '../shared/adapters/exact-index.js';
import { createOpenAICompleter } from '../shared/adapters/openai-completer.js';
import { createOpenAIEmbedder } from '../shared/adapters/openai-embedder.js';
import { createPromptCacheEngine } from '../shared/adapters/prompt-cache-engine.js';
import { createCaches } from '../shared/caches.js';
import { createChunks } from '../shared/chunks.js';
import { DataSetError, inspectServer, openDataSet } from '../shared/data-set.js';
import { createDraftObjects } from '../shared/draft-objects.js';
import { createEmbedding } from '../shared/embedding.js';
import { UnavailableError } from '../shared/errors.js';
import { createJobs, QUEUES } from '../shared/jobs.js';
import type { Logger } from '../shared/logger.js';
import { renderPrefix } from '../shared/prompt.js';
import { createLexicalRanker, createSemanticRanker } from '../shared/ranking.js';
import { createRecords } from '../shared/records.js';
import { bullConnection, createRedis, toUnavailable, type Redis } from '../shared/redis.js';
import { createSearch } from '../shared/search.js';
import type { Settings } from '../shared/settings.js';
import { createTermStatistics } from '../shared/term-statistics.js';
import { countTokens } from '../shared/tokens.js';
import { createUsage } from '../shared/usage.js';
import { limitIndexTime } from './index-deadline.js';
import { watchRedis } from './redis-watch.js';
import { createChangeWaiter } from './services/waiting.js';

export type ApiContext = Awaited<ReturnType<typeof createApiContext>>;

interface ContextOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** The process stops: ends the wait for a Redis that does not come, and requests' waits for their documents. */
  readonly signal: AbortSignal;
}

/** Everything that routes need, wired once. Waits for Redis; refuses one that would lose or mix data. */
export async function createApiContext({ settings, logger, signal }: ContextOptions) {
  // The tokenizer loads its table at first use, which takes a second that no request should wait for.
  countTokens('warm');
  const onError = (error: Error) => {
    logger.warn({ err: error }, 'redis connection');
  };
  const embedder = createEmbedder(settings);
  const completer = createCompleter(settings);
  const redis = await openRedis(settings.redis.url, { model: embedder.model, onError, logger, signal });
  const unwatch = watchRedis(redis, onError);
  const jobs = createJobs(bullConnection(settings.redis.url, { failFast: true }), onError);
  // Until its first connection BullMQ waits for Redis, whatever the profile; afterwards it fails fast.
  await Promise.all(QUEUES.map((name) => jobs.queue(name).waitUntilReady()));
  const waiter = await createChangeWaiter(redis, onError, signal);
  const engine = await createExactIndex({
    redisUrl: settings.redis.url,
    onProblem: (message, fields) => {
      logger[fields['level'] === 'error' ? 'error' : 'warn'](fields, message);
    },
  });
  const index = limitIndexTime(engine, { milliseconds: settings.search.timeoutSeconds * 1_000 });
  const [records, chunks, statistics] = [
    createRecords(redis),
    createChunks(redis),
    createTermStatistics(redis),
  ];
  const embedding = createEmbedding(embedder, {
    maxWaitMilliseconds: settings.embedder === 'openai' ? 20 : 0,
  });
  const ranker = settings.embedder === 'builtin' ? createLexicalRanker() : createSemanticRanker();
  return {
    ...{ settings, logger, redis, jobs, waiter, index, records, chunks, completer, countTokens },
    usage: createUsage(redis),
    caches: createCaches(redis),
    drafts: createDraftObjects(redis),
    cacheEngine: createPromptCacheEngine({ completer, countTokens, renderPrefix }),
    storage: await createDiskStorage({ directory: join(settings.dataDirectory, 'objects') }),
    search: createSearch({ index, embedding, ranker, records, chunks, statistics }),
    close: async () => {
      unwatch();
      waiter.close();
      await Promise.allSettled([index.close(), jobs.close()]);
      redis.destroy();
    },
  };
}

const RETRY_MILLISECONDS = 500;

async function openRedis(
  url: string,
  {
    model,
    onError,
    logger,
    signal,
  }: Omit<ContextOptions, 'settings'> & { model: string; onError: (error: Error) => void },
): Promise<Redis> {
  const redis = createRedis(url, { failFast: true, onError });
  try {
    await Promise.race([redis.connect(), aborted(signal)]);
    for (;;) {
      signal.throwIfAborted();
      try {
        await openData(redis, { model, logger });
        return redis;
      } catch (error) {
        // A server that still loads its data answers with errors until it is done.
        if (!(toUnavailable(error) instanceof UnavailableError)) throw error;
        await sleep(RETRY_MILLISECONDS, undefined, { signal });
      }
    }
  } catch (error) {
    redis.destroy();
    throw error;
  }
}

async function openData(redis: Redis, { model, logger }: { model: string; logger: Logger }): Promise<void> {
  const { problems, warnings } = await inspectServer(redis);
  if (problems.length > 0) throw new DataSetError(problems.join('; '));
  await openDataSet(redis, { model });
  for (const warning of warnings) logger.warn({ warning }, 'redis set-up');
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener(
      'abort',
      () => {
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}

function createCompleter({ completer, completion, openaiApiKey }: Settings) {
  const { contextWindow } = completion;
  switch (completer) {
    case 'builtin':
      return createBuiltinCompleter({ contextWindow });
    case 'openai':
      return createOpenAICompleter({
        apiKey: openaiApiKey,
        baseUrl: completion.baseUrl,
        model: completion.model,
        contextWindow,
        timeoutMilliseconds: completion.timeoutSeconds * 1_000,
      });
  }
}

function createEmbedder({ embedder, embedding, openaiApiKey }: Settings) {
  switch (embedder) {
    case 'builtin':
      return createBuiltinEmbedder();
    case 'openai':
      return createOpenAIEmbedder({
        apiKey: openaiApiKey,
        baseUrl: embedding.baseUrl,
        model: embedding.model,
        ...(embedding.dimensions > 0 ? { dimensions: embedding.dimensions } : {}),
        timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
        maxInputs: embedding.maxInputs,
        maxTokens: embedding.maxTokens,
      });
  }
}
