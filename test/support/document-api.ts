import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { BodyBudget } from '../../src/api/body-budget.js';
import { createContentRoutes } from '../../src/api/routes/document-content.js';
import { createDocumentRoutes } from '../../src/api/routes/documents.js';
import { createDownloadRoutes } from '../../src/api/routes/downloads.js';
import { createIngestRoutes } from '../../src/api/routes/ingest.js';
import {
  createAdmission,
  createRequireRoom,
  type AdmissionLimits,
} from '../../src/api/services/admission.js';
import { createAccounting } from '../../src/api/services/accounting.js';
import { createAnswerMemory } from '../../src/api/services/answer-memory.js';
import { createChangeDocument } from '../../src/api/services/change-document.js';
import { createContentUpdates } from '../../src/api/services/content-updates.js';
import { createDocumentChanges } from '../../src/api/services/document-changes.js';
import { createDocuments } from '../../src/api/services/documents.js';
import { createDownloadLinks, createDownloads } from '../../src/api/services/downloads.js';
import { createIngest } from '../../src/api/services/ingest.js';
import { createJobRequests } from '../../src/api/services/job-requests.js';
import { createSettling } from '../../src/api/services/settling.js';
import { createDraftObjects } from '../../src/shared/draft-objects.js';
import { createSources } from '../../src/api/services/sources.js';
import { createChangeWaiter } from '../../src/api/services/waiting.js';
import { createDiskStorage } from '../../src/shared/adapters/disk-storage.js';
import { createExactIndex } from '../../src/shared/adapters/exact-index.js';
import { createChunks } from '../../src/shared/chunks.js';
import { createJobs } from '../../src/shared/jobs.js';
import { createMemoryWatch } from '../../src/shared/memory.js';
import type { ObjectStorage } from '../../src/shared/ports.js';
import { createRecords } from '../../src/shared/records.js';
import { bullConnection, createRedis } from '../../src/shared/redis.js';
import { createUsage } from '../../src/shared/usage.js';
import { SECRET, startApi, type ApiClient } from './api.js';
import { startTestRedis, type TestRedis } from './redis.js';
import { until } from './until.js';

export interface DocumentApi extends ApiClient, Awaited<ReturnType<typeof openData>> {
  readonly server: TestRedis;
  /** Names of all stored source files. */
  storedFiles(): Promise<string[]>;
}

interface Options {
  readonly maxFileBytes?: number;
  readonly waitSeconds?: number;
  readonly downloadSeconds?: number;
  /** No limits unless the test says so. */
  readonly limits?: Partial<AdmissionLimits & { readonly maxMemoryShare: number }>;
  readonly bodies?: BodyBudget;
  readonly wrapStorage?: (storage: ObjectStorage) => ObjectStorage;
}

const downloadLinks = (validSeconds: number) => createDownloadLinks({ secrets: [SECRET], validSeconds });

/** The document routes over HTTP on a Redis and a disk of their own. Workers are not there: tests play them. */
export async function startDocumentApi(options: Options = {}): Promise<DocumentApi> {
  const { maxFileBytes = 1_000_000, waitSeconds = 20, downloadSeconds = 60 } = options;
  const server = await startTestRedis();
  const directory = await mkdtemp(join(tmpdir(), 'quire-objects-'));
  const data = await openData(server.url);
  const logger = pino({ level: 'silent' });
  const disk = await createDiskStorage({ directory });
  const storage = options.wrapStorage?.(disk) ?? disk;
  const waiter = await createChangeWaiter(data.redis, () => undefined);
  const index = await createExactIndex({ redisUrl: server.url });
  const { records, chunks } = data;
  const drafts = createDraftObjects(data.redis);
  const sources = createSources({ storage, drafts, maxFileBytes, logger });
  const jobs = createJobRequests(data.jobs, logger);
  const settle = createSettling({ records, waiter, logger, waitSeconds });
  const change = createChangeDocument(records, jobs);
  const accounting = createAccounting(data.usage);
  const { bucket } = storage;
  const memory = createAnswerMemory({ limitBytes: 256 * 1024 ** 2 });
  const unlimited = { maxWaiting: 1e6, maxWaitingPerCaller: 1e6, maxMemoryShare: 1 };
  const limits = { ...unlimited, ...options.limits };
  const watch = createMemoryWatch(data.redis, limits.maxMemoryShare);
  const admit = createAdmission(data.redis, limits, watch);
  const room = createRequireRoom(watch);
  const routes = [
    ...createIngestRoutes({
      ingest: createIngest({ records, sources, jobs, settle, accounting }),
      ...{ admit, bucket },
    }),
    ...createDocumentRoutes({
      documents: createDocuments({ records, chunks, index, memory }),
      changes: createDocumentChanges({ change, admit, room, jobs, settle }),
      bucket,
    }),
    ...createContentRoutes({
      contentUpdates: createContentUpdates({ records, sources, change, jobs, settle, accounting }),
      ...{ admit, bucket },
    }),
    ...createDownloadRoutes({
      openDownload: createDownloads({ records, storage, logger }),
      links: downloadLinks(downloadSeconds),
    }),
  ];
  const api = await startApi({ routes, ...(options.bodies && { bodies: options.bodies }) });
  await until(async () => (await index.state()) === 'ready');
  return {
    ...api,
    ...data,
    server,
    storedFiles: async () => {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    close: async () => {
      await api.close();
      waiter.close();
      await index.close();
      await data.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function openData(url: string) {
  const redis = createRedis(url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const jobs = createJobs({
    ...{ connection: bullConnection(url, { failFast: true }), redis },
    onError: () => undefined,
  });
  return {
    ...{ redis, jobs, records: createRecords(redis), chunks: createChunks(redis), usage: createUsage(redis) },
    links: downloadLinks(60),
    close: async () => {
      await jobs.close();
      redis.destroy();
    },
  };
}
