import { QUEUES } from '../shared/queues/lanes.js';
import { quotasOf } from '../shared/documents/records-options.js';
import { readOwned } from '../shared/documents/counts.js';
import type { Guesses } from './auth/guess-limit.js';
import type { Route } from './http/route.js';
import type { LifecyclePhase } from './lifecycle.js';
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
import {
  createServices,
  type DocumentServiceContext,
  type DocumentServices,
  type ServiceContext,
} from './services.js';
import { createDownloadLinks } from './services/documents/downloads.js';
import { createReadiness, readinessChecks, untilStopping } from './services/health.js';
import { createReadRecentUsage } from './services/recent-usage.js';
import { createTokenUri } from './services/token-uri.js';

/** The current secret, then the previous one while the secret is being changed. */
export type Secrets = readonly [string, ...string[]];

interface RouteParts {
  readonly secrets: Secrets;
  readonly guesses: Guesses;
  readonly phase: () => LifecyclePhase;
}

/** Creates all routes of the API. */
export function createRoutes(context: ServiceContext, { secrets, guesses, phase }: RouteParts): Route[] {
  const { settings } = context;
  const links = createDownloadLinks({ secrets, validSeconds: settings.api.downloadUrlSeconds });
  const services = createServices(context, links);
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
    ...usageRoutes(context),
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
