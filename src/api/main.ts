import type { RequestListener, Server } from 'node:http';
import { EXIT_DATA_CHANGED } from '../shared/exit-codes.js';
import { openAudit, type AuditLog } from '../shared/audit/audit-log.js';
import { createLogger, type Logger } from '../shared/observability/logger.js';
import { loadSettings } from '../shared/settings/load.js';
import type { Settings } from '../shared/settings/schema.js';
import { loadOrCreateSecret } from '../shared/settings/secret.js';
import { failProcess, stopOnSignals } from '../shared/stop-process.js';
import { startTracing, traceFieldsOf } from '../shared/tracing/start-tracing.js';
import { appOptionsOf, createStartingApp } from './app.js';
import { connectionLimitsOf } from './http/connections/limit-connections.js';
import { untilIndexIsRead, untilWorthListening, createLifecycle, type Lifecycle } from './lifecycle.js';
import { createApiContext, type OnReranked } from './context.js';
import { sourceOfBaseUrl } from './http/origins.js';
import {
  createApiServer,
  listen,
  ListenError,
  createMessages,
  type Messages,
} from './http/connections/server.js';
import { createProcessMetrics, type ProcessMetrics } from './pages/process-metrics.js';
import type { Secrets } from './services.js';
import { createAnswerMemory, type AnswerMemory } from './services/answer-memory/answer-memory.js';

const MEGABYTE = 1024 ** 2;

async function main(): Promise<void> {
  const settings = loadSettings(process.env, ['redis', 'secret']);
  const logger = createOwnLogger(settings);
  const closeTracing = await startTracing(settings, { process: 'api', logger });
  const secrets = await readSecrets(settings);
  const processMetrics = createProcessMetrics();
  const answerMemory = createAnswerMemory({ limitBytes: settings.api.answerMemoryMegabytes * MEGABYTE });
  processMetrics.showAnswerMemory(answerMemory);
  const audit = openOwnAudit(settings, logger, processMetrics);
  const { measure } = processMetrics;
  const auditing = audit && { log: audit, isRequired: settings.audit.required };
  const options = { ...appOptionsOf(settings, secrets, logger), measure, audit: auditing, answerMemory };

  let listener: RequestListener;
  const messages = createMessages();
  const server = openServer((request, response) => listener(request, response), {
    settings,
    logger,
    messages,
    answerMemory,
    processMetrics,
  });
  const lifecycle = createLifecycle(server);
  // While the process waits for Redis, this application reports that.
  listener = createStartingApp(options, lifecycle.phase);
  const parts = { lifecycle, onReranked: processMetrics.countRerank, audit, closeTracing };
  const { starting, redisAway } = startContext(settings, logger, parts);
  const serve = async () => {
    const context = await starting;
    processMetrics.showUsageOfReads(context.usageOfReads);
    // It is loaded while the thread of the index reads the data.
    const { createServingApp } = await import('./serving-app.js');
    listener = createServingApp({ ...options, messages }, context, {
      secrets,
      processMetrics,
      phase: lifecycle.phase,
    });
    await untilIndexIsRead(context.index, lifecycle.ending);
    lifecycle.beginServing();
  };
  await run(server, { serving: serve(), redisAway, settings, logger, lifecycle });
}

const onExit = (end: () => void) => process.once('exit', end);

const createOwnLogger = (settings: Settings): Logger =>
  createLogger({ level: settings.log.level, process: 'api', onExit, addFields: traceFieldsOf(settings) });

function openOwnAudit(settings: Settings, logger: Logger, metrics: ProcessMetrics): AuditLog | null {
  const log = openAudit(settings, { logger, process: 'api', onExit });
  if (log) metrics.showAudit(log);
  return log;
}

interface ServerParts {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly messages: Messages;
  readonly answerMemory: AnswerMemory;
  readonly processMetrics: ProcessMetrics;
}

/** The server, and its limits on connections. It does not listen yet. */
function openServer(listener: RequestListener, parts: ServerParts): Server {
  const { settings, logger, messages, answerMemory, processMetrics } = parts;
  return createApiServer(listener, {
    requestTimeoutSeconds: settings.api.requestTimeoutSeconds,
    messages,
    stalledMilliseconds: settings.api.stalledSeconds * 1_000,
    maxUnsentBytes: settings.api.answerMemoryMegabytes * MEGABYTE,
    answerMemory,
    onCutOff: processMetrics.countCutOff,
    connections: connectionLimitsOf(settings, logger, processMetrics),
  });
}

interface Start {
  readonly serving: Promise<void>;
  readonly redisAway: Promise<void>;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** Listens and waits until the process serves. Errors do not count once it is asked to stop. */
async function run(server: Server, { serving, redisAway, settings, logger, lifecycle }: Start) {
  try {
    await untilWorthListening({ serving, redisAway, signal: lifecycle.ending });
    await listen(server, settings.api);
    const { host, port } = settings.api;
    logger.info({ host, port, devMode: settings.devMode }, 'api listens');
    const { publicUrl, trustProxy } = settings.api;
    const from = sourceOfBaseUrl({ publicUrl, trustProxy });
    logger.info({ from, publicUrl, trustProxy }, 'links in answers begin with the address that `from` names');
    await serving;
    logger.info('api serves');
  } catch (error) {
    if (!lifecycle.ending.aborted) throw error;
  }
}

interface ContextParts {
  readonly lifecycle: Lifecycle;
  readonly onReranked: OnReranked;
  readonly audit: AuditLog | null;
  readonly closeTracing: () => Promise<void>;
}

/** Creates the context. A signal, or a change of the data, ends it and the process. */
function startContext(
  settings: Settings,
  logger: Logger,
  { lifecycle, onReranked, audit, closeTracing }: ContextParts,
) {
  const { drainSeconds } = settings.workers;
  const { stop } = stopOnSignals({
    logger,
    message: 'api stops',
    drainSeconds,
    delaySeconds: settings.api.shutdownDelaySeconds,
    close: async (delaySeconds) => {
      await lifecycle.end({ delaySeconds, drainSeconds });
      const [started] = await Promise.allSettled([starting]);
      if (started.status === 'fulfilled') await started.value.close();
      await audit?.close();
      await closeTracing();
    },
  });
  let onRedisAway: () => void = () => undefined;
  const redisAway = new Promise<void>((resolve) => {
    onRedisAway = resolve;
  });
  const starting = createApiContext({
    settings,
    logger,
    signal: lifecycle.ending,
    onRedisAway,
    onReranked,
    audit,
    onDataChange: () => stop('the data was reindexed', EXIT_DATA_CHANGED),
  });
  return { starting, redisAway };
}

async function readSecrets({
  jwtSecretKey,
  jwtSecretKeyPrevious,
  dataDirectory,
}: Settings): Promise<Secrets> {
  // Without a secret the settings allow dev mode only.
  const current = jwtSecretKey ?? (await loadOrCreateSecret(dataDirectory));
  return jwtSecretKeyPrevious === null ? [current] : [current, jwtSecretKeyPrevious];
}

main().catch((error: unknown) => failProcess(error, { isOperators: error instanceof ListenError }));
