import { once } from 'node:events';
import { createLogger } from '../shared/observability/logger.js';
import { loadSettings } from '../shared/settings/load.js';
import { failProcess, stopOnSignals } from '../shared/stop-process.js';
import { startTracing, traceFieldsOf } from '../shared/tracing/start-tracing.js';
import { createModelsContext } from './context.js';
import { createModelsServer } from './http/app.js';

let hasBeenStopped = () => false;

async function main(): Promise<void> {
  const settings = loadSettings(process.env, []);
  const onExit = (flush: () => void) => process.once('exit', flush);
  const addFields = traceFieldsOf(settings);
  const logger = createLogger({ level: settings.log.level, process: 'models', onExit, addFields });
  const closeTracing = await startTracing(settings, { process: 'models', logger });
  let close = () => Promise.resolve();
  const { drainSeconds } = settings.workers;
  const { isStopping } = stopOnSignals({
    logger,
    message: 'models stopping',
    drainSeconds,
    close: () => close(),
  });
  hasBeenStopped = isStopping;
  const context = await createModelsContext(settings, logger);
  const server = createModelsServer(context.app);
  close = async () => {
    server.close();
    server.closeIdleConnections();
    await Promise.race([once(server, 'close'), ended(drainSeconds)]);
    server.closeAllConnections();
    await context.close();
    await closeTracing();
  };
  const { host, port } = settings.models;
  server.listen({ host, port });
  await once(server, 'listening');
  logger.info({ host, port }, 'models ready');
}

function ended(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1_000).unref();
  });
}

main().catch((error: unknown) => {
  // A start that is interrupted fails, which is no error.
  if (hasBeenStopped()) return;
  failProcess(error);
});
