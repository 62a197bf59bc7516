import type { RequestListener } from 'node:http';
import { loadSettings, SettingsError } from '../shared/config.js';
import { DataSetError } from '../shared/data-set.js';
import { EXIT_DATA_CHANGED, EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { createLogger, type Logger } from '../shared/logger.js';
import { loadOrCreateSecret } from '../shared/secret.js';
import type { Settings } from '../shared/settings.js';
import { appOptionsOf } from './app-options.js';
import { createServingApp, createStartingApp } from './apps.js';
import { untilIndexIsRead, untilWorthListening } from './begin-serving.js';
import { createApiContext } from './context.js';
import { createLife, type Life } from './life.js';
import { createProcessMetrics } from './process-metrics.js';
import type { Secrets } from './routes.js';
import { createApiServer } from './server.js';
import { createAnswerMemory } from './services/answer-memory.js';
import { listen, PortError } from './serving.js';

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
    ...{ ...appOptionsOf(settings, secrets, logger), measure: processMetrics.measure, answerMemory },
  };

  let listener: RequestListener;
  const server = createApiServer((request, response) => listener(request, response), {
    requestTimeoutSeconds: settings.api.requestTimeoutSeconds,
    stalledMilliseconds: settings.api.stalledSeconds * 1_000,
    mostUnsentBytes: limitBytes,
    onCutOff: processMetrics.countCutOff,
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
  const stop = stopOnSignals(logger, settings, async (delaySeconds) => {
    await life.end({ delaySeconds, drainSeconds });
    const [started] = await Promise.allSettled([starting]);
    if (started.status === 'fulfilled') await started.value.close();
  });
  let onRedisAway: () => void = () => undefined;
  const redisAway = new Promise<void>((resolve) => {
    onRedisAway = resolve;
  });
  const starting = createApiContext({
    ...{ settings, logger, signal: life.ending, onRedisAway },
    onDataChange: () => stop('the data was reindexed', { code: EXIT_DATA_CHANGED, delaySeconds: 0 }),
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

interface Stop {
  readonly code: number;
  readonly delaySeconds: number;
}

/** A stop that takes too long ends the process as it is. */
function stopOnSignals(
  logger: Logger,
  { workers, api }: Settings,
  close: (delaySeconds: number) => Promise<void>,
) {
  let isStopping = false;
  const stop = (reason: string, { code, delaySeconds }: Stop) => {
    // A terminal's Ctrl-C may come with the parent's SIGTERM.
    if (isStopping) return;
    isStopping = true;
    logger.info({ reason }, 'api stops');
    setTimeout(() => process.exit(1), (workers.drainSeconds + 4) * 1_000).unref();
    close(delaySeconds).then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error({ err: error }, 'api did not stop cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    // What supervises processes behind a balancer sends this one; a terminal and a parent that is gone wait for nothing.
    const delaySeconds = signal === 'SIGTERM' ? api.shutdownDelaySeconds : 0;
    process.on(signal, () => stop(signal, { code: 0, delaySeconds }));
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
