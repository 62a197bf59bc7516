import type { RequestListener } from 'node:http';
import { UnavailableError } from '../shared/errors.js';
import { createApp, type AppOptions } from './app.js';
import { createGuesses } from './auth/guesses.js';
import { createRateLimit } from './auth/rate-limit.js';
import { createWindows } from './auth/windows.js';
import type { ApiContext } from './context.js';
import { createOperatorPages } from './operator-pages.js';
import type { ProcessMetrics } from './pages/process-metrics.js';
import type { Phase } from './lifecycle-phase.js';
import { createRoutes, type Secrets } from './routes.js';
import { createHealthRoutes } from './routes/health.js';

type Options = Omit<AppOptions, 'routes'>;

/** Lives and says so; everything else is asked to come again. */
export function createStartingApp(options: Options, phase: () => Phase): RequestListener {
  const readiness = () => Promise.resolve({ ready: false, components: { redis: 'unavailable' as const } });
  const refuse = () => {
    throw new UnavailableError('redis');
  };
  const routes = createHealthRoutes({ readiness, phase });
  return createApp({ ...options, routes, pages: [{ path: '/', handler: refuse }] });
}

interface ServingParts {
  readonly secrets: Secrets;
  readonly processMetrics: ProcessMetrics;
  readonly phase: () => Phase;
}

/** Everything. */
export function createServingApp(
  options: Options,
  context: ApiContext,
  { secrets, processMetrics, phase }: ServingParts,
): RequestListener {
  const { bodies, answerMemory } = options;
  const windows = createWindows(context.redis);
  const guesses = createGuesses(windows);
  const { rateLimitPerMinute: perMinute } = context.settings.api;
  return createApp({
    ...options,
    pages: createOperatorPages(context, { secrets, processMetrics, guesses, bodies }),
    rateLimit: perMinute > 0 ? createRateLimit(windows, { perMinute }) : null,
    routes: createRoutes({ ...context, answerMemory }, { secrets, guesses, phase }),
  });
}
