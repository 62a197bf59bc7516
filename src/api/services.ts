import { recommendedEmbedding } from '../shared/local-models/recommended.js';
import { adviceToFindMore } from '../shared/models/nothing-found.js';
import { createPagePictures } from '../shared/page-pictures/page-pictures.js';
import { createPageWaits } from '../shared/page-pictures/page-waits.js';
import { isEmbedderRemote, usesEmbeddingModel } from '../shared/settings/chosen-adapters.js';
import type { Settings } from '../shared/settings/schema.js';
import type { ApiContext } from './context.js';
import { createUsageAccounting } from './services/usage-accounting.js';
import { createCollectionStore } from '../shared/collections/collection-store.js';
import { createCollectionDocuments } from './services/collections/collection-documents.js';
import { createCollections, type Collections } from './services/collections/collections.js';
import { createRenewalPause } from './services/caches/renewal-pause.js';
import { createCacheSelection } from './services/caches/cache-selection.js';
import { createCacheService } from './services/caches/caches.js';
import { createCountFacets } from './services/documents/count-facets.js';
import { createCommitChange } from './services/documents/commit-change.js';
import { createDocumentChanges } from './services/documents/document-changes.js';
import { createLookUp } from './services/documents/lookup.js';
import { createReadExtraction } from './services/documents/read-extraction.js';
import { createReadDocuments } from './services/documents/read-documents.js';
import { createReadPage, createRenderPage } from './services/documents/read-page.js';
import { createDownloadLinks, createDownloads, type DownloadLinks } from './services/documents/downloads.js';
import { createSourceTexts } from './services/documents/source-text.js';
import { createAdmission } from './services/ingest/admission/admission.js';
import { createAnswerAgain, createBeginAgain } from './services/ingest/answer-again.js';
import { createIngestFiles } from './services/ingest/batch/ingest-files.js';
import { createIngestTexts } from './services/ingest/batch/ingest-texts.js';
import { createContentUpdates } from './services/ingest/content-updates.js';
import { createDuplicates } from './services/ingest/duplicates.js';
import { createIngest } from './services/ingest/ingest.js';
import { createJobRequests } from './services/ingest/job-requests.js';
import { quotasOf } from '../shared/documents/records-options.js';
import { requireQuotas } from '../shared/documents/counts.js';
import { createKnownSources } from './services/ingest/known-sources.js';
import { createReplaceSource } from './services/ingest/replace-source.js';
import { createRequireRoom } from './services/ingest/admission/require-room.js';
import { createByteAllowances } from './services/ingest/admission/byte-allowances.js';
import { createSources } from './services/ingest/sources.js';
import { createWaitForDocument } from './services/ingest/waits.js';
import type { AnswerMemory } from './services/answer-memory/answer-memory.js';
import { createEmbeddings } from './services/models/embeddings.js';
import { createRerankTexts } from './services/models/rerank-texts.js';
import { createCompletions } from './services/retrieval/completions.js';
import { createExplainDocument } from './services/retrieval/explain-document.js';
import { createRetrieval } from './services/retrieval/retrieval.js';
import { createCallerLists } from './services/sharing/caller-lists.js';
import { createMembership } from './services/sharing/membership.js';
import type { DocumentReaders } from './view/router.js';

/** The current secret, then the previous one while the secret is being changed. */
export type Secrets = readonly [string, ...string[]];

/** The context of the process, and the memory that all answers share. */
export interface ServiceContext extends ApiContext {
  readonly answerMemory: AnswerMemory;
}

/** The part of the context that the services of documents need. */
export interface DocumentServiceContext extends Pick<
  ServiceContext,
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

export type Services = ReturnType<typeof createServices>;
export type DocumentServices = ReturnType<typeof createDocumentServices>;

/** Creates what routes and protocols do, without HTTP. */
export function createServices(context: ServiceContext, secrets: Secrets) {
  const links = createDownloadLinks({ secrets, validSeconds: context.settings.api.downloadUrlSeconds });
  const documentServices = createDocumentServices(context, links);
  const { collections } = documentServices;
  return {
    ...documentServices,
    ...createSearchServices(context, { links, collections }),
    caches: createCaches(context, collections),
    ...createModelServices(context),
  };
}

export function createDocumentServices(context: DocumentServiceContext, links: DownloadLinks) {
  const { settings, logger, records, chunks, index, waiter, sharedViews, answerMemory: memory } = context;
  const { waitSeconds, maxFileBytes } = settings.ingest;
  const jobs = createJobRequests(context.jobs, logger);
  const waitForDocument = createWaitForDocument({ records, waiter, logger, waitSeconds });
  const { sources, requireQuota } = openSources(context);
  const change = createCommitChange(records, jobs);
  const { admit, admitSome } = createAdmission(context.redis, settings.ingest, context.memory);
  const room = createRequireRoom(context.memory);
  const accounting = createUsageAccounting(context.usage);
  const { collections, createMembers } = openCollections(context, room);
  const beginAgain = createBeginAgain(change, jobs);
  const known = openKnown(context.redis, { records, sources, change, jobs });
  const storing = { records, sources, jobs, accounting, collections, requireQuota, ...known };
  const batch = { ...storing, beginAgain, admit, admitSome, waiter, logger, waitSeconds, maxFileBytes };
  const lists = createCallerLists({ sharedViews, records, room });
  return {
    admit,
    room,
    ingest: createIngest({ ...storing, waitForDocument }),
    answerAgain: createAnswerAgain({ records, beginAgain, waitForDocument }),
    ingestTexts: createIngestTexts(batch),
    ingestFiles: createIngestFiles(batch),
    ...createDocumentReaders(context, collections),
    countFacets: createCountFacets({ records, index, sharedViews, collections, memory }),
    lookUp: createLookUp({ redis: context.redis, records }),
    readExtraction: createReadExtraction({ records, chunks }),
    changes: createDocumentChanges({ records, change, admit, room, jobs, waitForDocument }),
    lists,
    membership: createMembership({ lists, change, room, jobs, waitForDocument }),
    contentUpdates: createContentUpdates({ records, sources, change, jobs, waitForDocument, accounting }),
    links,
    collections,
    collectionDocuments: createMembers({ change, jobs, waitForDocument, waitSeconds }),
  };
}

/** The parts that find the documents of a content or a source that are there already. */
function openKnown(
  redis: DocumentServiceContext['redis'],
  parts: Omit<Parameters<typeof createReplaceSource>[0], 'knownSources'> &
    Pick<DocumentServiceContext, 'records'>,
) {
  const knownSources = createKnownSources(redis, parts.records);
  return {
    duplicates: createDuplicates(redis, parts.records),
    knownSources,
    replaceSource: createReplaceSource({ ...parts, knownSources }),
  };
}

/** Opens the collections, and what is done with the documents in them. */
function openCollections(
  { redis, index, sharedViews, logger }: DocumentServiceContext,
  room: ReturnType<typeof createRequireRoom>,
) {
  const store = createCollectionStore(redis);
  const collections = createCollections({ store, sharedViews, room, logger });
  const own = { store, collections, index, room };
  return {
    collections,
    createMembers: (parts: Omit<Parameters<typeof createCollectionDocuments>[0], keyof typeof own>) =>
      createCollectionDocuments({ ...own, ...parts }),
  };
}

/** Opens the storage of contents, within the quotas of their owners. */
function openSources({ redis, storage, drafts, settings, logger }: DocumentServiceContext) {
  const quotas = quotasOf(settings);
  const { maxFileBytes } = settings.ingest;
  const allowBytes = createByteAllowances(redis, quotas);
  return {
    sources: createSources({ storage, drafts, maxFileBytes, allowBytes, logger }),
    requireQuota: (ownerId: string) => requireQuotas(redis, ownerId, quotas),
  };
}

/** Creates the services that show documents to their readers: their texts, their sources, their pages. */
function createDocumentReaders(
  context: Omit<DocumentServiceContext, 'settings'>,
  collections: Collections,
): DocumentReaders {
  const { redis, records, chunks, index, jobs, waiter, storage, logger, sharedViews } = context;
  const memory = context.answerMemory;
  const pictures = createPagePictures(redis);
  const waits = createPageWaits(redis);
  const room = createRequireRoom(context.memory);
  const renderPage = createRenderPage({ pictures, waits, jobs, waiter, room });
  return {
    documents: createReadDocuments({ records, chunks, index, sharedViews, collections, memory }),
    openDownload: createDownloads({ records, storage, logger }),
    readPage: createReadPage({ records, chunks, pictures, renderPage, memory }),
  };
}

function createSearchServices(
  context: ServiceContext,
  { links, collections }: { readonly links: DownloadLinks; readonly collections: Collections },
) {
  const { settings, logger, records, chunks, storage, completer, countTokens } = context;
  const { search, newestHits, rerankedSearch, details, sharedViews, answerMemory: memory } = context;
  const accounting = createUsageAccounting(context.usageOfReads);
  const finding = { search, newestHits, rerankedSearch, details, sharedViews, collections };
  const searching = { ...finding, accounting, memory, countTokens };
  const texts = createSourceTexts({ storage, chunks, logger });
  const defaultMaxTokens = settings.completion.maxTokens;
  const { megabytes } = recommendedEmbedding[settings.models.language];
  const findMore = usesEmbeddingModel(settings) ? undefined : adviceToFindMore(megabytes);
  return {
    retrieval: createRetrieval({ ...searching, records, texts, downloadUrl: links.urlFor }),
    explainDocument: createExplainDocument({ ...searching, records }),
    completions: createCompletions({ ...searching, completer, defaultMaxTokens, findMore }),
  };
}

/** Makes what callers may ask of the models themselves. */
function createModelServices(context: ServiceContext) {
  const { settings, embedding, reranking, countTokens, answerMemory: memory } = context;
  const accounting = createUsageAccounting(context.usageOfReads);
  const isInThisProcess = !isEmbedderRemote(settings);
  return {
    embeddings: createEmbeddings({ embedding, accounting, memory, countTokens, isInThisProcess }),
    rerankTexts: createRerankTexts({ reranking, accounting }),
  };
}

function createCaches(context: ServiceContext, collections: Collections) {
  const { settings, logger, records, chunks, index } = context;
  const { caches, cacheEngines: engines, jobs, waiter, sharedViews } = context;
  return createCacheService({
    caches,
    selection: createCacheSelection({
      index,
      records,
      sharedViews,
      collections,
      chunk: settings.chunk,
    }),
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
  });
}
