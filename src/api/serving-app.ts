import type { RequestListener } from 'node:http';
import { createApp, type AppOptions } from './app.js';
import { createGuessLimit } from './auth/guess-limit.js';
import { createRateLimit } from './auth/rate-limit.js';
import { createMinuteCounters } from './auth/minute-counters.js';
import type { ApiContext } from './context.js';
import { createOperatorPages } from './operator-pages.js';
import type { ProcessMetrics } from './pages/process-metrics.js';
import type { LifecyclePhase } from './lifecycle-phase.js';
import { createIdempotency } from './services/idempotency/idempotency.js';
import { createRoutes, type Secrets } from './routes.js';

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
  return createApp({
    ...options,
    pages: createOperatorPages(context, { secrets, processMetrics, guesses, bodies }),
    rateLimit: perMinute > 0 ? createRateLimit(windows, { perMinute }) : null,
    idempotency: createIdempotency({ redis, logger, limitBytes: idempotencyMegabytes * 1024 ** 2 }),
    routes: createRoutes({ ...context, answerMemory }, { secrets, guesses, phase }),
  });
}
