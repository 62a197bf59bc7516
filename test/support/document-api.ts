import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { BodyBudget } from '../../src/api/http/request/body-budget.js';
import { documentRoutes } from '../../src/api/routes.js';
import { createDocumentServices } from '../../src/api/services.js';
import { createDownloadLinks } from '../../src/api/services/documents/downloads.js';
import type { AdmissionLimits } from '../../src/api/services/ingest/admission/admission.js';
import { createIdempotency } from '../../src/api/services/idempotency/idempotency.js';
import { createChangeWaiter } from '../../src/api/services/ingest/waits.js';
import { createAnswerMemory } from '../../src/api/services/answer-memory/answer-memory.js';
import { createDiskStorage } from '../../src/shared/adapters/disk-storage/disk-storage.js';
import { createExactIndex } from '../../src/shared/adapters/exact-index/exact-index.js';
import { createSharedViews } from '../../src/shared/access/sharing.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { NO_QUOTAS, type Quotas } from '../../src/shared/documents/counts.js';
import { createRecords } from '../../src/shared/documents/records.js';
import type { ObjectStorage } from '../../src/shared/ports.js';
import { createJobs } from '../../src/shared/queues/jobs.js';
import { bullConnection, createRedis } from '../../src/shared/redis/client.js';
import { createMemoryWatch } from '../../src/shared/redis/memory.js';
import { createDraftObjects, withShortSources } from '../../src/shared/storage/sources.js';
import { createUsage } from '../../src/shared/usage/usage.js';
import { SECRET, startApi, type ApiClient } from './api.js';
import { until } from './until.js';
import { emptyTestRedis } from './use-test-redis.js';

export interface DocumentApi extends ApiClient, Awaited<ReturnType<typeof openData>> {
  readonly redisUrl: string;
  /** Names of all stored source files. */
  storedFiles(): Promise<string[]>;
}

interface Options {
  /** The URL of a Redis that the test has already; the Jest worker's, emptied, without one. */
  readonly redisUrl?: string;
  readonly maxFileBytes?: number;
  readonly waitSeconds?: number;
  readonly maxBatchDocuments?: number;
  readonly maxBatchFiles?: number;
  readonly maxJsonBytes?: number;
  readonly requestTimeoutSeconds?: number;
  readonly bodyGraceSeconds?: number;
  readonly downloadSeconds?: number;
  /** No limits unless the test says so. */
  readonly limits?: Partial<AdmissionLimits & { readonly maxMemoryShare: number }>;
  readonly quotas?: Partial<Quotas>;
  readonly bodies?: BodyBudget;
  /** The memory of a caller's requests with an `Idempotency-Key`, in bytes. */
  readonly idempotencyBytes?: number;
  /** Aborts when the API is to stop. */
  readonly stopping?: AbortSignal;
  readonly wrapStorage?: (storage: ObjectStorage) => ObjectStorage;
}

const downloadLinks = (validSeconds: number) => createDownloadLinks({ secrets: [SECRET], validSeconds });

/** The document routes over HTTP, on a disk of their own. Workers are not there: tests play them. */
export async function startDocumentApi(options: Options = {}): Promise<DocumentApi> {
  const { maxFileBytes = 1_000_000, waitSeconds = 20, downloadSeconds = 60 } = options;
  const { maxBatchDocuments = 1_000, maxBatchFiles = 100 } = options;
  const redisUrl = options.redisUrl ?? (await emptyTestRedis());
  const directory = await mkdtemp(join(tmpdir(), 'quire-objects-'));
  const quotas = { ...NO_QUOTAS, ...options.quotas };
  const data = await openData(redisUrl, quotas);
  const logger = pino({ level: 'silent' });
  const disk = await createDiskStorage({ directory });
  const storage = withShortSources(options.wrapStorage?.(disk) ?? disk, data.redis);
  const waiter = await createChangeWaiter(data.redis, () => undefined, options.stopping);
  const index = await createExactIndex({ redisUrl });
  const unlimited = { maxWaiting: 1e6, maxWaitingPerCaller: 1e6, maxMemoryShare: 1 };
  const limits = { ...unlimited, ...options.limits };
  const context = {
    ...data,
    logger,
    index,
    storage,
    waiter,
    drafts: createDraftObjects(data.redis),
    memory: createMemoryWatch(data.redis, limits.maxMemoryShare),
    answerMemory: createAnswerMemory({ limitBytes: 256 * 1024 ** 2 }),
    settings: {
      quota: { documents: quotas.documents ?? 0, bytes: quotas.bytes ?? 0, chunks: quotas.chunks ?? 0 },
      ingest: { ...limits, maxFileBytes, waitSeconds, maxBatchDocuments, maxBatchFiles },
    },
  };
  const routes = documentRoutes(context, createDocumentServices(context, downloadLinks(downloadSeconds)));
  const { bodies, maxJsonBytes, requestTimeoutSeconds, bodyGraceSeconds, idempotencyBytes = 1e8 } = options;
  const api = await startApi({
    routes,
    idempotency: createIdempotency({ redis: data.redis, logger, limitBytes: idempotencyBytes }),
    ...(bodies && { bodies }),
    ...(maxJsonBytes && { maxJsonBytes }),
    ...(requestTimeoutSeconds && { requestTimeoutSeconds }),
    ...(bodyGraceSeconds && { bodyGraceSeconds }),
  });
  await until(async () => (await index.state()) === 'ready');
  return {
    ...api,
    ...data,
    redisUrl,
    storedFiles: async () => {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    close: async () => {
      await api.close();
      waiter.close();
      await index.close();
      await data.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

async function openData(url: string, quotas: Quotas) {
  const redis = createRedis(url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const jobs = createJobs({
    connection: bullConnection(url, { failFast: true }),
    redis,
    onError: () => undefined,
  });
  return {
    redis,
    jobs,
    records: createRecords(redis, undefined, { quotas }),
    chunks: createChunks(redis),
    usage: createUsage(redis),
    sharedViews: createSharedViews(redis),
    links: downloadLinks(60),
    close: async () => {
      await jobs.close();
      redis.destroy();
    },
  };
}
