import { createAdmin } from './admin/router.js';
import type { AppOptions } from './app.js';
import { createAuthentication } from './auth/authentication.js';
import type { Guesses } from './auth/guess-limit.js';
import type { ApiContext } from './context.js';
import type { BodyBudget } from './http/request/body-budget.js';
import { createMetricsPage } from './pages/metrics-page.js';
import type { ProcessMetrics } from './pages/process-metrics.js';
import type { Secrets } from './routes.js';
import { createOperation } from './operation.js';
import { createServiceMetrics } from './services/service-metrics.js';

interface PageOptions {
  readonly secrets: Secrets;
  readonly processMetrics: ProcessMetrics;
  readonly guesses: Guesses;
  readonly bodies: BodyBudget;
}

/** The pages for operators: metrics and everything under /admin. */
export function createOperatorPages(
  context: ApiContext,
  { secrets, processMetrics, guesses, bodies }: PageOptions,
): NonNullable<AppOptions['pages']> {
  const { settings, redis, jobs, index, logger, memory } = context;
  const metrics = { redis, jobs, index, logger, memory, disks: context.disks.all };
  const { devMode } = settings;
  const authenticateToken = createAuthentication({ secrets, devMode: false });
  return [
    {
      path: '/metrics',
      handler: createMetricsPage({
        sources: [processMetrics, createServiceMetrics(metrics)],
        authenticate: authenticateToken,
        token: settings.metrics.token,
        devMode,
        guesses,
      }),
    },
    {
      path: '/admin',
      handler: createAdmin({
        redis,
        jobs,
        secrets,
        devMode,
        authenticateToken,
        guesses,
        bodies,
        bodyGraceSeconds: settings.api.slowBodySeconds,
        ...createOperation(context),
        authenticate: createAuthentication({ secrets, devMode }),
        sessionMinutes: settings.admin.sessionMinutes,
        queuesReadOnly: settings.admin.queuesReadOnly,
        publicUrl: settings.api.publicUrl,
      }),
    },
  ];
}
