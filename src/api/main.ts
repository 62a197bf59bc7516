import type { RequestListener } from 'node:http';
import { IncompatibleDataError } from '../shared/data-set/data-set.js';
import { EXIT_DATA_CHANGED, EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { createLogger, type Logger } from '../shared/observability/logger.js';
import { loadSettings, SettingsError } from '../shared/settings/load.js';
import type { Settings } from '../shared/settings/schema.js';
import { loadOrCreateSecret } from '../shared/settings/secret.js';
import { stopOnSignals } from '../shared/stop-process.js';
import { appOptionsOf } from './app-options.js';
import { createServingApp, createStartingApp } from './apps.js';
import { untilIndexIsRead, untilWorthListening } from './begin-serving.js';
import { createApiContext } from './context.js';
import { connectionsOfThisProcess, limitConnections } from './http/limit-connections.js';
import { createApiServer } from './http/server.js';
import { listen, PortError } from './http/serving.js';
import { createLife, type Life } from './life.js';
import { createProcessMetrics } from './pages/process-metrics.js';
import type { Secrets } from './routes.js';
import { createAnswerMemory } from './services/retrieval/answer-memory.js';

const MEGABYTE = 1024 ** 2;

async function main(): Promise<void> {
  const settings = loadSettings(process.env, ['redis', 'secret']);
  const logger = createLogger({ level: settings.log.level, process: 'api' });
  const secrets = await readSecrets(settings);
  const processMetrics = createProcessMetrics();
  const limitBytes = settings.api.answerMemoryMegabytes * MEGABYTE;
  const answerMemory = createAnswerMemory({ limitBytes });
  processMetrics.showAnswerMemory(answerMemory);
  const options = {
    ...appOptionsOf(settings, secrets, logger),
    measure: processMetrics.measure,
    answerMemory,
  };

  let listener: RequestListener;
  const server = createApiServer((request, response) => listener(request, response), {
    requestTimeoutSeconds: settings.api.requestTimeoutSeconds,
    stalledMilliseconds: settings.api.stalledSeconds * 1_000,
    mostUnsentBytes: limitBytes,
    onCutOff: processMetrics.countCutOff,
  });
  limitConnections(server, {
    max: connectionsOfThisProcess(),
    onCrowded: (open) => {
      logger.warn({ open }, 'too many connections: those without a request are closed');
    },
  });
  const life = createLife(server);
  // Whoever asks while we wait for Redis is told so.
  listener = createStartingApp(options, life.phase);
  const { starting, redisAway } = startContext(settings, logger, life);
  const serve = async () => {
    const context = await starting;
    listener = createServingApp(options, context, { secrets, processMetrics, phase: life.phase });
    await untilIndexIsRead(context.index, life.ending);
    life.begin();
  };
  try {
    const serving = serve();
    await untilWorthListening({ serving, redisAway, signal: life.ending });
    await listen(server, settings.api);
    const { host, port } = settings.api;
    logger.info({ host, port, devMode: settings.devMode }, 'api listens');
    await serving;
    logger.info('api serves');
  } catch (error) {
    if (!life.ending.aborted) throw error;
  }
}

/** Makes what routes need; a signal or other data end it, and the process. */
function startContext(settings: Settings, logger: Logger, life: Life) {
  const { drainSeconds } = settings.workers;
  const { stop } = stopOnSignals({
    logger,
    message: 'api stops',
    drainSeconds,
    delaySeconds: settings.api.shutdownDelaySeconds,
    close: async (delaySeconds) => {
      await life.end({ delaySeconds, drainSeconds });
      const [started] = await Promise.allSettled([starting]);
      if (started.status === 'fulfilled') await started.value.close();
    },
  });
  let onRedisAway: () => void = () => undefined;
  const redisAway = new Promise<void>((resolve) => {
    onRedisAway = resolve;
  });
  const starting = createApiContext({
    settings,
    logger,
    signal: life.ending,
    onRedisAway,
    onDataChange: () => stop('the data was reindexed', EXIT_DATA_CHANGED),
  });
  return { starting, redisAway };
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

main().catch((error: unknown) => {
  const isOurs =
    error instanceof SettingsError || error instanceof IncompatibleDataError || error instanceof PortError;
  process.stderr.write(`${isOurs ? error.message : describe(error)}\n`);
  process.exit(isOurs ? EXIT_WRONG_SETTINGS : 1);
});

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
