import { recommendedEmbedding } from '../shared/local-models/recommended.js';
import { adviceToFindMore } from '../shared/models/nothing-found.js';
import { QUEUES } from '../shared/queues/lanes.js';
import { createPagePictures } from '../shared/page-pictures/page-pictures.js';
import { createPageWaits } from '../shared/page-pictures/page-waits.js';
import { usesEmbeddingModel } from '../shared/settings/chosen-adapters.js';
import type { Settings } from '../shared/settings/schema.js';
import type { Guesses } from './auth/guess-limit.js';
import type { ApiContext } from './context.js';
import type { Route } from './http/route.js';
import type { LifecyclePhase } from './lifecycle.js';
import { createCacheRoutes } from './routes/caches/caches.js';
import { createContentRoutes, createDownloadRoutes, createPageRoutes } from './routes/document-content.js';
import { createDocumentRoutes } from './routes/documents.js';
import { createHealthRoutes } from './routes/health.js';
import { ingestBatchRoute } from './routes/ingest/ingest-batch.js';
import { ingestFilesRoute } from './routes/ingest/ingest-files.js';
import { createIngestRoutes } from './routes/ingest/ingest.js';
import { createRetrievalRoutes } from './routes/retrieval.js';
import { createSharingRoutes } from './routes/sharing.js';
import { createTokenRoutes } from './routes/tokens.js';
import { createUsageRoutes } from './routes/usage.js';
import { createUsageAccounting } from './services/usage-accounting.js';
import { createRenewalPause } from './services/caches/renewal-pause.js';
import { createCacheSelection } from './services/caches/cache-selection.js';
import { createCacheService } from './services/caches/caches.js';
import { createCommitChange } from './services/documents/commit-change.js';
import { createDocumentChanges } from './services/documents/document-changes.js';
import { createReadExtraction } from './services/documents/read-extraction.js';
import { createReadDocuments } from './services/documents/read-documents.js';
import { createReadPage, createRenderPage } from './services/documents/read-page.js';
import { createDownloadLinks, createDownloads, type DownloadLinks } from './services/documents/downloads.js';
import { createSourceTexts } from './services/documents/source-text.js';
import { createReadRecentUsage } from './services/recent-usage.js';
import { createReadiness, readinessChecks, untilStopping } from './services/health.js';
import { createAdmission } from './services/ingest/admission/admission.js';
import { createAnswerAgain, createBeginAgain } from './services/ingest/answer-again.js';
import { createIngestFiles, type IngestFilesParts } from './services/ingest/batch/ingest-files.js';
import { createIngestTexts, type IngestTextsParts } from './services/ingest/batch/ingest-texts.js';
import { createContentUpdates } from './services/ingest/content-updates.js';
import { createDuplicates } from './services/ingest/duplicates.js';
import { createIngest } from './services/ingest/ingest.js';
import { createJobRequests } from './services/ingest/job-requests.js';
import { quotasOf } from '../shared/documents/records-options.js';
import { readOwned, requireQuotas } from '../shared/documents/counts.js';
import { createRequireRoom } from './services/ingest/admission/require-room.js';
import { createByteAllowances } from './services/ingest/admission/byte-allowances.js';
import { createSources } from './services/ingest/sources.js';
import { createWaitForDocument } from './services/ingest/waits.js';
import type { AnswerMemory } from './services/answer-memory/answer-memory.js';
import { createCompletions } from './services/retrieval/completions.js';
import { createExplainDocument } from './services/retrieval/explain-document.js';
import { createRetrieval } from './services/retrieval/retrieval.js';
import { createCallerLists } from './services/sharing/caller-lists.js';
import { createMembership, type MembershipParts } from './services/sharing/membership.js';
import { createTokenUri } from './services/token-uri.js';

/** The current secret, then the previous one while the secret is being changed. */
export type Secrets = readonly [string, ...string[]];

interface RouteContext extends ApiContext {
  readonly answerMemory: AnswerMemory;
}

interface RouteParts {
  readonly secrets: Secrets;
  readonly guesses: Guesses;
  readonly phase: () => LifecyclePhase;
}

/** Creates all routes of the API. */
export function createRoutes(context: RouteContext, { secrets, guesses, phase }: RouteParts): Route[] {
  const { settings, disks, redis, index, storage, usage, usageOfReads } = context;
  const links = createDownloadLinks({ secrets, validSeconds: settings.api.downloadUrlSeconds });
  const { uriScheme: scheme, uriHost: host, uriPort: port } = settings.api;
  const readiness = createReadiness(readinessChecks({ redis, index, storage, queues: QUEUES }), disks.all);
  return [
    ...createHealthRoutes({
      readiness: untilStopping(readiness, phase),
      models: context.modelStates,
      phase,
    }),
    ...createTokenRoutes({
      makeUri: createTokenUri({ secret: secrets[0], scheme, host, port }),
      devMode: settings.devMode,
      guesses,
      password: settings.localUriPassword,
    }),
    ...createDocumentsRoutes(context, links),
    ...searchRoutes(context, links),
    ...cacheRoutes(context),
    ...createUsageRoutes({
      usage,
      readRecent: createReadRecentUsage({ usage, usageOfReads, memory: context.answerMemory }),
      usageOfReads,
      quotas: quotasOf(settings),
      owned: (ownerId) => readOwned(redis, ownerId),
    }),
  ];
}

/** The part of the context that the routes of documents need. */
export interface DocumentRouteContext extends Pick<
  RouteContext,
  | 'logger'
  | 'redis'
  | 'jobs'
  | 'records'
  | 'chunks'
  | 'index'
  | 'storage'
  | 'drafts'
  | 'waiter'
  | 'memory'
  | 'answerMemory'
  | 'usage'
  | 'sharedViews'
> {
  readonly settings: Pick<Settings, 'quota'> & {
    readonly ingest: Pick<
      Settings['ingest'],
      | 'maxFileBytes'
      | 'waitSeconds'
      | 'maxWaiting'
      | 'maxWaitingPerCaller'
      | 'maxBatchDocuments'
      | 'maxBatchFiles'
    >;
  };
}

export function createDocumentsRoutes(context: DocumentRouteContext, links: DownloadLinks): Route[] {
  const { settings, logger, records, chunks, index, storage, waiter, sharedViews } = context;
  const { bucket } = storage;
  const { waitSeconds, maxFileBytes } = settings.ingest;
  const jobs = createJobRequests(context.jobs, logger);
  const waitForDocument = createWaitForDocument({ records, waiter, logger, waitSeconds });
  const { sources, requireQuota } = openSources(context);
  const change = createCommitChange(records, jobs);
  const { admit, admitSome } = createAdmission(context.redis, settings.ingest, context.memory);
  const room = createRequireRoom(context.memory);
  const changes = createDocumentChanges({ records, change, admit, room, jobs, waitForDocument });
  const accounting = createUsageAccounting(context.usage);
  const duplicates = createDuplicates(context.redis, records);
  const beginAgain = createBeginAgain(change, jobs);
  const storing = { records, sources, jobs, accounting, duplicates, requireQuota };
  return [
    ...createIngestRoutes({
      ingest: createIngest({ ...storing, waitForDocument }),
      answerAgain: createAnswerAgain({ records, beginAgain, waitForDocument }),
      admit,
      bucket,
      maxFileBytes,
    }),
    ...batchRoutes(context, { ...storing, beginAgain, admit, admitSome, waiter, logger }),
    ...createDocumentRoutes({
      documents: createReadDocuments({ records, chunks, index, sharedViews, memory: context.answerMemory }),
      readExtraction: createReadExtraction({ records, chunks }),
      changes,
      bucket,
    }),
    ...sharingRoutes(context, { change, room, jobs, waitForDocument }),
    ...createContentRoutes({
      contentUpdates: createContentUpdates({ records, sources, change, jobs, waitForDocument, accounting }),
      admit,
      bucket,
    }),
    ...sourceRoutes(context, links),
  ];
}

/** Makes the routes by which readers treat documents of others. */
function sharingRoutes(
  { records, sharedViews }: DocumentRouteContext,
  parts: Omit<MembershipParts, 'lists'>,
): Route[] {
  const lists = createCallerLists({ sharedViews, records, room: parts.room });
  return createSharingRoutes({ membership: createMembership({ ...parts, lists }), lists });
}

/** The routes that show sources: whole, and their pages. */
function sourceRoutes(
  { redis, records, chunks, jobs, waiter, storage, logger, ...context }: DocumentRouteContext,
  links: DownloadLinks,
): Route[] {
  const pictures = createPagePictures(redis);
  const waits = createPageWaits(redis);
  const room = createRequireRoom(context.memory);
  const renderPage = createRenderPage({ pictures, waits, jobs, waiter, room });
  const memory = context.answerMemory;
  return [
    ...createDownloadRoutes({ openDownload: createDownloads({ records, storage, logger }), links }),
    ...createPageRoutes({ readPage: createReadPage({ records, chunks, pictures, renderPage, memory }) }),
  ];
}

/** Opens the storage of contents, within the quotas of their owners. */
function openSources({ redis, storage, drafts, settings, logger }: DocumentRouteContext) {
  const quotas = quotasOf(settings);
  const { maxFileBytes } = settings.ingest;
  const allowBytes = createByteAllowances(redis, quotas);
  return {
    sources: createSources({ storage, drafts, maxFileBytes, allowBytes, logger }),
    requireQuota: (ownerId: string) => requireQuotas(redis, ownerId, quotas),
  };
}

type BatchRouteParts = Omit<IngestTextsParts & IngestFilesParts, 'waitSeconds' | 'maxFileBytes'>;

function batchRoutes({ settings, waiter }: DocumentRouteContext, parts: BatchRouteParts): Route[] {
  const { waitSeconds, maxFileBytes, maxBatchDocuments, maxBatchFiles } = settings.ingest;
  const { admit } = parts;
  const ingestTexts = createIngestTexts({ ...parts, waitSeconds });
  const ingestFiles = createIngestFiles({ ...parts, waitSeconds, maxFileBytes });
  return [
    ingestBatchRoute({ ingestTexts, admit, maxDocuments: maxBatchDocuments, stopping: waiter.stopping }),
    ingestFilesRoute({ ingestFiles, admit, maxFiles: maxBatchFiles, maxFileBytes }),
  ];
}

function searchRoutes(context: RouteContext, links: DownloadLinks): Route[] {
  const { settings, logger, records, chunks, storage, completer, countTokens } = context;
  const { search, rerankedSearch, details, sharedViews, answerMemory: memory } = context;
  const accounting = createUsageAccounting(context.usageOfReads);
  const searching = { search, rerankedSearch, details, sharedViews, accounting, memory, countTokens };
  const texts = createSourceTexts({ storage, chunks, logger });
  const defaultMaxTokens = settings.completion.maxTokens;
  const { megabytes } = recommendedEmbedding[settings.models.language];
  const findMore = usesEmbeddingModel(settings) ? undefined : adviceToFindMore(megabytes);
  return createRetrievalRoutes({
    explainDocument: createExplainDocument({ ...searching, records }),
    retrieval: createRetrieval({ ...searching, records, texts, downloadUrl: links.urlFor }),
    query: createCompletions({ ...searching, completer, defaultMaxTokens, findMore }),
  });
}

function cacheRoutes(context: RouteContext): Route[] {
  const { settings, logger, records, chunks, index } = context;
  const { caches, cacheEngines: engines, jobs, waiter, sharedViews } = context;
  return createCacheRoutes({
    caches: createCacheService({
      caches,
      selection: createCacheSelection({ index, records, sharedViews, overlap: settings.chunk.overlap }),
      records,
      chunks,
      jobs,
      waiter,
      engines,
      accounting: createUsageAccounting(context.usageOfReads),
      defaultMaxTokens: settings.completion.maxTokens,
      sharedViews,
      renewals: createRenewalPause(),
      waitSeconds: settings.ingest.waitSeconds,
      logger,
    }),
    room: createRequireRoom(context.memory),
  });
}
