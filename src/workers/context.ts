import { join } from 'node:path';
import { createCaches } from '../shared/caches.js';
import { createChunks } from '../shared/chunks.js';
import { checkDimensions, inspectServer, openDataSet, DataSetError } from '../shared/data-set.js';
import { createDraftObjects } from '../shared/draft-objects.js';
import { createEmbedding } from '../shared/embedding.js';
import { createJobs } from '../shared/jobs.js';
import type { Logger } from '../shared/logger.js';
import { createBuiltinEmbedder } from '../shared/adapters/builtin-embedder.js';
import { createBuiltinCompleter } from '../shared/adapters/builtin-completer.js';
import { createOpenAICompleter } from '../shared/adapters/openai-completer.js';
import { createPromptCacheEngine } from '../shared/adapters/prompt-cache-engine.js';
import { createDiskStorage } from '../shared/adapters/disk-storage.js';
import { createOpenAIEmbedder } from '../shared/adapters/openai-embedder.js';
import { renderPrefix } from '../shared/prompt.js';
import { countTokens } from '../shared/tokens.js';
import { createMetricsBuffer } from '../shared/metrics.js';
import { createRecords } from '../shared/records.js';
import { bullConnection, createRedis } from '../shared/redis.js';
import type { Settings } from '../shared/settings.js';
import { createTermStatistics } from '../shared/term-statistics.js';
import { createUsage } from '../shared/usage.js';
import { createFailDocument } from './fail.js';

export type WorkerContext = Awaited<ReturnType<typeof createWorkerContext>>;

/** Everything that any worker needs, wired once. Waits for Redis; refuses one that would lose or mix data. */
export async function createWorkerContext(settings: Settings, logger: Logger) {
  const onError = (error: Error) => logger.warn({ err: error }, 'redis connection');
  const redis = createRedis(settings.redis.url, { failFast: false, onError });
  await redis.connect();
  const { problems } = await inspectServer(redis);
  if (problems.length > 0) throw new DataSetError(problems.join('; '));
  const embedder = createEmbedder(settings);
  await openDataSet(redis, { model: embedder.model });
  const connection = bullConnection(settings.redis.url, { failFast: false });
  const jobs = createJobs(connection, onError);
  const records = createRecords(redis);
  const metrics = createMetricsBuffer(redis, {
    onError: (error) => {
      logger.warn({ err: error }, 'metrics not sent yet');
    },
  });
  return {
    settings,
    logger,
    redis,
    metrics,
    connection,
    jobs,
    records,
    chunks: createChunks(redis),
    statistics: createTermStatistics(redis),
    usage: createUsage(redis),
    storage: await createDiskStorage({ directory: join(settings.dataDirectory, 'objects') }),
    embedding: createEmbedding(embedder, { maxWaitMilliseconds: settings.embedder === 'openai' ? 20 : 0 }),
    caches: createCaches(redis),
    drafts: createDraftObjects(redis),
    cacheEngine: createPromptCacheEngine({ completer: createCompleter(settings), countTokens, renderPrefix }),
    failDocument: createFailDocument({ records, jobs, metrics }),
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
