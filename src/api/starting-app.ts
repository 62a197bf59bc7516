import type { RequestListener } from 'node:http';
import { UnavailableError } from '../shared/errors.js';
import { createApp, type AppOptions } from './app.js';
import type { LifecyclePhase } from './lifecycle-phase.js';
import { createHealthRoutes } from './routes/health.js';

/** The application while the process starts: it answers liveness probes, and refuses everything else with 503. */
export function createStartingApp(
  options: Omit<AppOptions, 'routes'>,
  phase: () => LifecyclePhase,
): RequestListener {
  const readiness = () =>
    Promise.resolve({ ready: false, components: { redis: 'unavailable' as const }, disks: {} });
  const refuse = () => {
    throw new UnavailableError('redis');
  };
  const routes = createHealthRoutes({ readiness, phase });
  return createApp({ ...options, routes, pages: [{ path: '/', handler: refuse }] });
}
