import type { RequestListener } from 'node:http';
import { loadSettings, SettingsError } from '../shared/config.js';
import { DataSetError } from '../shared/data-set.js';
import { UnavailableError } from '../shared/errors.js';
import { EXIT_DATA_CHANGED, EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { createLogger, type Logger } from '../shared/logger.js';
import { loadOrCreateSecret } from '../shared/secret.js';
import type { Settings } from '../shared/settings.js';
import { parseTrustedProxies } from '../shared/settings/trusted-proxies.js';
import { createApp, type AppOptions } from './app.js';
import { createAuthentication } from './auth.js';
import { createBodyBudget, type BodyBudgetOptions } from './body-budget.js';
import { createApiContext } from './context.js';
import { createGuesses } from './guesses.js';
import { createMounts } from './mounts.js';
import { createProcessMetrics } from './process-metrics.js';
import { createRateLimit } from './rate-limit.js';
import { createRoutes, type Secrets } from './routes.js';
import { createHealthRoutes } from './routes/health.js';
import { createApiServer } from './server.js';
import { createAnswerMemory } from './services/answer-memory.js';
import { listen, PortError, stopServer } from './serving.js';
import { createWindows } from './windows.js';

const MEGABYTE = 1024 ** 2;

async function main(): Promise<void> {
  const settings = loadSettings(process.env, ['redis', 'secret']);
  const logger = createLogger({ level: settings.log.level, process: 'api' });
  const secrets = await readSecrets(settings);
  const processMetrics = createProcessMetrics();
  const limitBytes = settings.api.answerMemoryMegabytes * MEGABYTE;
  const answerMemory = createAnswerMemory({ limitBytes });
  processMetrics.showAnswerMemory(answerMemory);
  const appOptions = {
    ...{ ...optionsOf(settings, secrets, logger), measure: processMetrics.measure, answerMemory },
  };

  // Whoever asks while we wait for Redis is told so.
  let listener: RequestListener = createStartingApp(appOptions);
  const server = createApiServer((request, response) => listener(request, response), {
    requestTimeoutSeconds: settings.api.requestTimeoutSeconds,
    stalledMilliseconds: settings.api.stalledSeconds * 1_000,
    mostUnsentBytes: limitBytes,
    onCutOff: processMetrics.countCutOff,
  });
  await listen(server, settings.api);
  logger.info({ host: settings.api.host, port: settings.api.port, devMode: settings.devMode }, 'api listens');

  const stopping = new AbortController();
  const stop = stopOnSignals(logger, settings.workers.drainSeconds, async () => {
    stopping.abort();
    await stopServer(server, { drainSeconds: settings.workers.drainSeconds });
    const [started] = await Promise.allSettled([starting]);
    if (started.status === 'fulfilled') await started.value.close();
  });
  const starting = createApiContext({
    ...{ settings, logger, signal: stopping.signal },
    onDataChange: () => stop('the data was reindexed', EXIT_DATA_CHANGED),
  });
  try {
    const context = await starting;
    const windows = createWindows(context.redis);
    const guesses = createGuesses(windows);
    const mounts = createMounts(context, { secrets, processMetrics, guesses, bodies: appOptions.bodies });
    const { rateLimitPerMinute: perMinute } = settings.api;
    const rateLimit = perMinute > 0 ? createRateLimit(windows, { perMinute }) : null;
    listener = createApp({
      ...appOptions,
      mounts,
      rateLimit,
      routes: createRoutes({ ...context, answerMemory }, { secrets, guesses }),
    });
    logger.info('api serves');
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  }
}

async function readSecrets({
  jwtSecretKey,
  jwtSecretKeyPrevious,
  dataDirectory,
}: Settings): Promise<Secrets> {
  // Without one the settings allow dev mode only.
  const current = jwtSecretKey ?? (await loadOrCreateSecret(dataDirectory));
  return jwtSecretKeyPrevious === null ? [current] : [current, jwtSecretKeyPrevious];
}

function optionsOf(
  { devMode, allowRemoteDevMode, api }: Settings,
  secrets: Secrets,
  logger: Logger,
): Omit<AppOptions, 'routes' | 'answerMemory'> {
  const { corsOrigins, publicUrl, maxJsonBytes } = api;
  const trustProxy = parseTrustedProxies(api.trustProxy) ?? 0;
  const publicNames = publicUrl === '' ? [] : [new URL(publicUrl).hostname];
  return {
    authenticate: createAuthentication({ secrets, devMode }),
    ...{ logger, devMode, allowRemoteDevMode, corsOrigins, trustProxy, publicUrl, maxJsonBytes },
    bodies: createBodyBudget(bodyBudgetOf(api)),
    bodyGraceSeconds: api.slowBodySeconds,
    hostNames: [api.host, ...publicNames],
  };
}

/** A quarter each, or a largest body where that is more. */
function bodyBudgetOf({ bodyMemoryMegabytes, maxJsonBytes }: Settings['api']): BodyBudgetOptions {
  const maxBytes = bodyMemoryMegabytes * 1024 ** 2;
  return { maxBytes, shareBytes: Math.max(maxBytes / 4, maxJsonBytes + 1024 ** 2) };
}

/** Lives and says so; everything else is asked to come again. */
function createStartingApp(options: Omit<AppOptions, 'routes'>): RequestListener {
  const readiness = () => Promise.resolve({ ready: false, components: { redis: 'unavailable' as const } });
  const refuse = () => {
    throw new UnavailableError('redis');
  };
  const routes = createHealthRoutes({ readiness });
  return createApp({ ...options, routes, mounts: [{ path: '/', handler: refuse }] });
}

/** A second signal, or a stop that takes too long, ends the process as it is. */
function stopOnSignals(logger: Logger, drainSeconds: number, close: () => Promise<void>) {
  let isStopping = false;
  const stop = (reason: string, code: number) => {
    // A terminal's Ctrl-C may come with the parent's SIGTERM.
    if (isStopping) return;
    isStopping = true;
    logger.info({ reason }, 'api stops');
    setTimeout(() => process.exit(1), (drainSeconds + 4) * 1_000).unref();
    close().then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error({ err: error }, 'api did not stop cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.on(signal, () => stop(signal, 0));
  }
  return stop;
}

main().catch((error: unknown) => {
  const isOurs =
    error instanceof SettingsError || error instanceof DataSetError || error instanceof PortError;
  process.stderr.write(`${isOurs ? error.message : describe(error)}\n`);
  process.exit(isOurs ? EXIT_WRONG_SETTINGS : 1);
});

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
