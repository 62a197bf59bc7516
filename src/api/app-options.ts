import type { Logger } from '../shared/observability/logger.js';
import type { Settings } from '../shared/settings/schema.js';
import { parseTrustedProxies } from '../shared/settings/trusted-proxies.js';
import { isTracing } from '../shared/tracing/tracing.js';
import type { AppOptions } from './app.js';
import { createAuthentication } from './auth/authentication.js';
import { traceRequests } from './http/logging/trace-requests.js';
import { createBodyBudget, type BodyBudgetOptions } from './http/request/body-budget.js';
import type { Secrets } from './routes.js';

/** Makes the options that the application needs in all phases from the settings. */
export function appOptionsOf(
  { devMode, allowRemoteDevMode, api, traces }: Settings,
  secrets: Secrets,
  logger: Logger,
): Omit<AppOptions, 'routes' | 'answerMemory'> {
  const { corsOrigins, publicUrl, maxJsonBytes, unknownFields } = api;
  const trustProxy = parseTrustedProxies(api.trustProxy);
  if (trustProxy === null) throw new Error('api.trust_proxy was not validated');
  const publicNames = publicUrl === '' ? [] : [new URL(publicUrl).hostname];
  return {
    authenticate: createAuthentication({ secrets, devMode }),
    logger,
    trace: isTracing() ? traceRequests({ isContinued: traces.parent === 'continue' }) : null,
    devMode,
    allowRemoteDevMode,
    corsOrigins,
    trustProxy,
    publicUrl,
    maxJsonBytes,
    unknownFields,
    bodies: createBodyBudget(bodyBudgetOf(api)),
    bodyGraceSeconds: api.slowBodySeconds,
    hostNames: [api.host, ...publicNames],
  };
}

/** Gives each caller a quarter of the budget, or enough for one body of the largest size. */
function bodyBudgetOf({ bodyMemoryMegabytes, maxJsonBytes }: Settings['api']): BodyBudgetOptions {
  const maxBytes = bodyMemoryMegabytes * 1024 ** 2;
  return { maxBytes, shareBytes: Math.max(maxBytes / 4, maxJsonBytes + 1024 ** 2) };
}
