import { createAdmin } from './admin/router.js';
import type { AppOptions } from './app.js';
import { createAuthentication } from './auth.js';
import type { BodyBudget } from './body-budget.js';
import type { ApiContext } from './context.js';
import type { Guesses } from './guesses.js';
import { createMetricsPage } from './metrics-page.js';
import type { ProcessMetrics } from './process-metrics.js';
import type { Secrets } from './routes.js';
import { createDocumentInspection } from './services/document-inspection.js';
import { createServiceMetrics } from './services/service-metrics.js';

interface MountOptions {
  readonly secrets: Secrets;
  readonly processMetrics: ProcessMetrics;
  readonly guesses: Guesses;
  readonly bodies: BodyBudget;
}

/** What operators use, and what is no JSON route: pages and metrics. */
export function createMounts(
  context: ApiContext,
  { secrets, processMetrics, guesses, bodies }: MountOptions,
): NonNullable<AppOptions['mounts']> {
  const { settings, redis, jobs, index, logger, records, chunks } = context;
  const { devMode } = settings;
  const authenticateToken = createAuthentication({ secrets, devMode: false });
  return [
    {
      path: '/metrics',
      handler: createMetricsPage({
        sources: [() => processMetrics.render(), createServiceMetrics({ redis, jobs, index, logger })],
        authenticate: authenticateToken,
        token: settings.metrics.token,
        ...{ devMode, guesses },
      }),
    },
    {
      path: '/admin',
      handler: createAdmin({
        ...{ redis, jobs, secrets, devMode, authenticateToken, guesses },
        ...{ bodies, bodyGraceSeconds: settings.api.slowBodySeconds },
        inspect: createDocumentInspection({ records, chunks, jobs }),
        authenticate: createAuthentication({ secrets, devMode }),
        sessionMinutes: settings.admin.sessionMinutes,
        queuesReadOnly: settings.admin.queuesReadOnly,
        publicUrl: settings.api.publicUrl,
      }),
    },
  ];
}
