import { QUEUES } from '../shared/jobs.js';
import type { ApiContext } from './context.js';
import type { Route } from './route.js';
import type { Guesses } from './guesses.js';
import type { Phase } from './phase.js';
import { createCacheRoutes } from './routes/caches.js';
import { createContentRoutes } from './routes/document-content.js';
import { createDocumentRoutes } from './routes/documents.js';
import { createDownloadRoutes } from './routes/downloads.js';
import { createHealthRoutes } from './routes/health.js';
import { createIngestRoutes } from './routes/ingest.js';
import { createRetrievalRoutes } from './routes/retrieval.js';
import { createTokenRoutes } from './routes/tokens.js';
import { createUsageRoutes } from './routes/usage.js';
import { createAdmission, createRequireRoom } from './services/admission.js';
import { createAccounting } from './services/accounting.js';
import type { AnswerMemory } from './services/answer-memory.js';
import { createCacheSelection } from './services/cache-selection.js';
import { createCacheService } from './services/caches.js';
import { createChangeDocument } from './services/change-document.js';
import { createContentUpdates } from './services/content-updates.js';
import { createDocumentChanges } from './services/document-changes.js';
import { createDocuments } from './services/documents.js';
import { createDownloadLinks, createDownloads, type DownloadLinks } from './services/downloads.js';
import { createReadiness, readinessChecks, untilStopping } from './services/health.js';
import { createIngest } from './services/ingest.js';
import { createJobRequests } from './services/job-requests.js';
import { createQuery } from './services/query.js';
import { createRetrieval } from './services/retrieval.js';
import { createSettling } from './services/settling.js';
import { createSourceTexts } from './services/source-text.js';
import { createSources } from './services/sources.js';
import { createUriMaker } from './services/tokens.js';

/** The current secret, then the previous one while it is being changed. */
export type Secrets = readonly [string, ...string[]];

interface RouteContext extends ApiContext {
  readonly answerMemory: AnswerMemory;
}

interface RouteParts {
  readonly secrets: Secrets;
  readonly guesses: Guesses;
  readonly phase: () => Phase;
}

/** Every route of the API over what the context holds. */
export function createRoutes(context: RouteContext, { secrets, guesses, phase }: RouteParts): Route[] {
  const { settings, redis, index, storage, usage } = context;
  const links = createDownloadLinks({ secrets, validSeconds: settings.api.downloadUrlSeconds });
  const { uriScheme: scheme, uriHost: host, uriPort: port } = settings.api;
  const readiness = createReadiness(readinessChecks({ redis, index, storage, queues: QUEUES }));
  return [
    ...createHealthRoutes({ readiness: untilStopping(readiness, phase), phase }),
    ...createTokenRoutes({
      makeUri: createUriMaker({ secret: secrets[0], scheme, host, port }),
      ...{ devMode: settings.devMode, guesses },
      password: settings.localUriPassword,
    }),
    ...documentRoutes(context, links),
    ...searchRoutes(context, links),
    ...createUsageRoutes({ usage }),
  ];
}

function documentRoutes(context: RouteContext, links: DownloadLinks): Route[] {
  const { settings, logger, records, chunks, index, storage, drafts, waiter } = context;
  const { bucket } = storage;
  const { waitSeconds, maxFileBytes } = settings.ingest;
  const jobs = createJobRequests(context.jobs, logger);
  const settle = createSettling({ records, waiter, logger, waitSeconds });
  const sources = createSources({ storage, drafts, maxFileBytes, logger });
  const change = createChangeDocument(records, jobs);
  const admit = createAdmission(context.redis, settings.ingest, context.memory);
  const room = createRequireRoom(context.memory);
  const changes = createDocumentChanges({ change, admit, room, jobs, settle });
  const accounting = createAccounting(context.usage);
  return [
    ...createIngestRoutes({
      ingest: createIngest({ records, sources, jobs, settle, accounting }),
      ...{ admit, bucket },
    }),
    ...createDocumentRoutes({
      documents: createDocuments({ records, chunks, index, memory: context.answerMemory }),
      changes,
      bucket,
    }),
    ...createContentRoutes({
      contentUpdates: createContentUpdates({ records, sources, change, jobs, settle, accounting }),
      ...{ admit, bucket },
    }),
    ...createDownloadRoutes({ openDownload: createDownloads({ records, storage, logger }), links }),
  ];
}

function searchRoutes(context: RouteContext, links: DownloadLinks): Route[] {
  const { settings, logger, search, records, chunks, index, storage, completer, countTokens } = context;
  const { caches, cacheEngine: engine, jobs, waiter } = context;
  const { answerMemory: memory } = context;
  const accounting = createAccounting(context.usage);
  const defaultMaxTokens = settings.completion.maxTokens;
  const { contextWindow, name } = engine;
  const selection = createCacheSelection({ index, records, contextWindow, overlap: settings.chunk.overlap });
  return [
    ...createRetrievalRoutes({
      retrieval: createRetrieval({
        ...{ search, accounting, memory },
        records,
        texts: createSourceTexts({ storage, chunks, logger }),
        countTokens,
        downloadUrl: links.urlFor,
      }),
      query: createQuery({ search, completer, accounting, memory, countTokens, defaultMaxTokens }),
    }),
    ...createCacheRoutes({
      caches: createCacheService({
        ...{ caches, selection, records, chunks, jobs, waiter, engine, accounting, defaultMaxTokens, logger },
      }),
      room: createRequireRoom(context.memory),
      engine: name,
      waitSeconds: settings.ingest.waitSeconds,
    }),
  ];
}
