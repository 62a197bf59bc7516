import type { RequestListener } from 'node:http';
import { createAdmin } from './admin/router.js';
import { createApp, type AppOptions } from './app.js';
import { createAuthentication } from './auth/authentication.js';
import { createGuessLimit, type Guesses } from './auth/guess-limit.js';
import { createMinuteCounters, createRateLimit } from './auth/rate-limit.js';
import type { ApiContext } from './context.js';
import type { BodyBudget } from './http/request/body-budget.js';
import type { LifecyclePhase } from './lifecycle.js';
import { createMetricsPage } from './pages/metrics-page.js';
import type { ProcessMetrics } from './pages/process-metrics.js';
import { createRoutes } from './routes.js';
import { createServices, type Secrets } from './services.js';
import { createCommitChange } from './services/documents/commit-change.js';
import { createDocumentChanges } from './services/documents/document-changes.js';
import { createDocumentInspection } from './services/documents/document-inspection.js';
import { createOperatorChanges } from './services/documents/operator-changes.js';
import { createIdempotency } from './services/idempotency/idempotency.js';
import { createAdmission } from './services/ingest/admission/admission.js';
import { createRequireRoom } from './services/ingest/admission/require-room.js';
import { createJobRequests } from './services/ingest/job-requests.js';
import { createWaitForDocument } from './services/ingest/waits.js';
import { createJobNotes } from './services/jobs/job-notes.js';
import { createRetryJob } from './services/jobs/retry-job.js';
import { createServiceMetrics } from './services/service-metrics.js';
import { createView } from './view/router.js';

interface ServingParts {
  readonly secrets: Secrets;
  readonly processMetrics: ProcessMetrics;
  readonly phase: () => LifecyclePhase;
}

/** The application with all routes and pages. */
export function createServingApp(
  options: Omit<AppOptions, 'routes'>,
  context: ApiContext,
  { secrets, processMetrics, phase }: ServingParts,
): RequestListener {
  const { bodies, answerMemory } = options;
  const windows = createMinuteCounters(context.redis);
  const guesses = createGuessLimit(windows);
  const { rateLimitPerMinute: perMinute, idempotencyMegabytes } = context.settings.api;
  const { redis, logger } = context;
  const rateLimit = perMinute > 0 ? createRateLimit(windows, { perMinute }) : null;
  const login = { redis, secrets, guesses, bodies, ...loginSettings(context, secrets) };
  const serving = { ...context, answerMemory };
  const services = createServices(serving, secrets);
  const view = createView({
    ...login,
    ...services,
    rateLimit,
    memory: answerMemory,
  });
  return createApp({
    ...options,
    pages: [...createOperatorPages(context, { login, processMetrics }), { path: '/view', handler: view }],
    rateLimit,
    idempotency: createIdempotency({ redis, logger, limitBytes: idempotencyMegabytes * 1024 ** 2 }),
    routes: createRoutes(serving, { services, secrets, guesses, phase }),
  });
}

interface PageOptions {
  /** The parts of the login that all pages for browsers have. */
  readonly login: ReturnType<typeof loginSettings> & {
    readonly redis: ApiContext['redis'];
    readonly secrets: Secrets;
    readonly guesses: Guesses;
    readonly bodies: BodyBudget;
  };
  readonly processMetrics: ProcessMetrics;
}

const loginSettings = ({ settings }: ApiContext, secrets: Secrets) => ({
  devMode: settings.devMode,
  authenticate: createAuthentication({ secrets, devMode: settings.devMode }),
  sessionMinutes: settings.admin.sessionMinutes,
  bodyGraceSeconds: settings.api.slowBodySeconds,
  publicUrl: settings.api.publicUrl,
});

/** The pages for operators: metrics and everything under /admin. */
function createOperatorPages(
  context: ApiContext,
  { login, processMetrics }: PageOptions,
): NonNullable<AppOptions['pages']> {
  const { settings, redis, jobs, index, logger, memory } = context;
  const metrics = { redis, jobs, index, logger, memory, disks: context.disks.all };
  const { devMode, guesses, secrets } = login;
  return [
    {
      path: '/metrics',
      handler: createMetricsPage({
        sources: [processMetrics, createServiceMetrics(metrics)],
        authenticate: createAuthentication({ secrets, devMode: false }),
        token: settings.metrics.token,
        devMode,
        guesses,
      }),
    },
    {
      path: '/admin',
      handler: createAdmin({
        ...login,
        jobs,
        ...createOperation(context),
        queuesReadOnly: settings.admin.queuesReadOnly,
      }),
    },
  ];
}

/** Makes the views and actions of operators on documents and jobs, whoever may read them. */
function createOperation(context: ApiContext) {
  const { settings, logger, redis, records, chunks, caches, jobs, memory, waiter } = context;
  const { waitSeconds } = settings.ingest;
  const requests = createJobRequests(jobs, logger);
  const parts = {
    records,
    admit: createAdmission(redis, settings.ingest, memory).admit,
    room: createRequireRoom(memory),
    jobs: requests,
    waitForDocument: createWaitForDocument({ records, waiter, logger, waitSeconds }),
  };
  const changes = createOperatorChanges({
    records,
    change: createCommitChange(records, requests),
    changesBy: (change) => createDocumentChanges({ ...parts, change }),
  });
  const readNotes = createJobNotes({ redis, records, caches, jobs, memory });
  return {
    changes,
    readNotes,
    inspect: createDocumentInspection({ records, chunks, jobs, readNotes }),
    retryJob: createRetryJob({ redis, records, caches, operator: changes }),
  };
}
