import { QUEUES } from '../shared/queues/lanes.js';
import { quotasOf } from '../shared/documents/records-options.js';
import { readOwned } from '../shared/documents/counts.js';
import type { Guesses } from './auth/guess-limit.js';
import type { Route } from './http/route.js';
import type { LifecyclePhase } from './lifecycle.js';
import { rerankRoute } from './protocols/cohere/rerank.js';
import { difyRoute } from './protocols/dify/retrieval.js';
import { openWebUIRoute } from './protocols/open-webui/search.js';
import { createOpenAIRoutes } from './protocols/openai/routes.js';
import { createCacheRoutes } from './routes/caches/caches.js';
import { createCollectionRoutes } from './routes/collections.js';
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
import type {
  DocumentServiceContext,
  DocumentServices,
  Secrets,
  ServiceContext,
  Services,
} from './services.js';
import { createReadiness, readinessChecks, untilStopping } from './services/health.js';
import { createReadRecentUsage } from './services/recent-usage.js';
import { createTokenUri } from './services/token-uri.js';
import { createMcpRoute } from './protocols/mcp/route.js';

interface RouteParts {
  readonly services: Services;
  readonly secrets: Secrets;
  readonly guesses: Guesses;
  readonly phase: () => LifecyclePhase;
}

/** Creates all routes of the API. */
export function createRoutes(
  context: ServiceContext,
  { services, secrets, guesses, phase }: RouteParts,
): Route[] {
  const { settings } = context;
  const { uriScheme: scheme, uriHost: host, uriPort: port } = settings.api;
  return [
    ...healthRoutes(context, phase),
    ...createTokenRoutes({
      makeUri: createTokenUri({ secret: secrets[0], scheme, host, port }),
      devMode: settings.devMode,
      guesses,
      password: settings.localUriPassword,
    }),
    ...documentRoutes(context, services),
    ...createRetrievalRoutes(services),
    ...createCacheRoutes(services),
    createMcpRoute({ ...services, bucket: context.storage.bucket, logger: context.logger }),
    ...usageRoutes(context),
    ...createOpenAIRoutes(services),
    rerankRoute(services.rerankTexts),
    difyRoute(services),
    openWebUIRoute(services.retrieval),
  ];
}

function healthRoutes(
  { redis, index, storage, disks, modelStates: models }: ServiceContext,
  phase: RouteParts['phase'],
): Route[] {
  const readiness = createReadiness(readinessChecks({ redis, index, storage, queues: QUEUES }), disks.all);
  return createHealthRoutes({ readiness: untilStopping(readiness, phase), models, phase });
}

/** Creates the routes of documents: ingest, reading, changes, sharing. */
export function documentRoutes(
  { settings, storage, waiter }: Pick<DocumentServiceContext, 'settings' | 'storage' | 'waiter'>,
  services: DocumentServices,
): Route[] {
  const { maxFileBytes, maxBatchDocuments: maxDocuments, maxBatchFiles: maxFiles } = settings.ingest;
  const parts = { ...services, bucket: storage.bucket, maxFileBytes };
  return [
    ...createIngestRoutes(parts),
    ingestBatchRoute({ ...parts, maxDocuments, stopping: waiter.stopping }),
    ingestFilesRoute({ ...parts, maxFiles }),
    ...createDocumentRoutes(parts),
    ...createCollectionRoutes(parts),
    ...createSharingRoutes(parts),
    ...createContentRoutes(parts),
    ...createDownloadRoutes(parts),
    ...createPageRoutes(parts),
  ];
}

function usageRoutes({
  settings,
  redis,
  usage,
  usageOfReads,
  answerMemory: memory,
}: ServiceContext): Route[] {
  return createUsageRoutes({
    usage,
    readRecent: createReadRecentUsage({ usage, usageOfReads, memory }),
    usageOfReads,
    quotas: quotasOf(settings),
    owned: (ownerId) => readOwned(redis, ownerId),
  });
}
