import type { RequestListener } from 'node:http';
import { UnavailableError } from '../shared/errors.js';
import { createApp, type AppOptions } from './app.js';
import type { ApiContext } from './context.js';
import { createGuesses } from './guesses.js';
import { createMounts } from './mounts.js';
import type { Phase } from './phase.js';
import type { ProcessMetrics } from './process-metrics.js';
import { createRateLimit } from './rate-limit.js';
import { createRoutes, type Secrets } from './routes.js';
import { createHealthRoutes } from './routes/health.js';
import { createWindows } from './windows.js';

type Options = Omit<AppOptions, 'routes'>;

/** Lives and says so; everything else is asked to come again. */
export function createStartingApp(options: Options, phase: () => Phase): RequestListener {
  const readiness = () => Promise.resolve({ ready: false, components: { redis: 'unavailable' as const } });
  const refuse = () => {
    throw new UnavailableError('redis');
  };
  const routes = createHealthRoutes({ readiness, phase });
  return createApp({ ...options, routes, mounts: [{ path: '/', handler: refuse }] });
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
    mounts: createMounts(context, { secrets, processMetrics, guesses, bodies }),
    rateLimit: perMinute > 0 ? createRateLimit(windows, { perMinute }) : null,
    routes: createRoutes({ ...context, answerMemory }, { secrets, guesses, phase }),
  });
}
