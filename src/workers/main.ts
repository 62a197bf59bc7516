import { parseArgs } from 'node:util';
import { z } from 'zod';
import { storageAdvice } from '../shared/create-storage.js';
import { openAudit } from '../shared/audit/audit-log.js';
import { watchDataSet } from '../shared/data-set/data-set.js';
import { EXIT_DATA_CHANGED, EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { createLogger, type Logger } from '../shared/observability/logger.js';
import { QUEUES, type QueueName } from '../shared/queues/lanes.js';
import { loadSettings, type Settings } from '../shared/settings/load.js';
import { failProcess, stopOnSignals } from '../shared/stop-process.js';
import { startTracing, traceFieldsOf } from '../shared/tracing/start-tracing.js';
import { createWorkerContext } from './context.js';
import { waitForStorage } from './wait-for-storage.js';
import { serveQueue } from './serve-queue.js';

const { values } = parseArgs({ options: { queues: { type: 'string', default: QUEUES.join(',') } } });
const queues = z.array(z.enum(QUEUES)).safeParse(values.queues.split(','));

let hasBeenStopped = () => false;

async function main(): Promise<void> {
  if (!queues.success) throw new Error(`--queues takes a list of ${QUEUES.join(', ')}`);
  const settings = loadSettings(process.env, ['redis']);
  const name = `worker-${values.queues}`;
  const logger = createOwnLogger(settings, name);
  const closeTracing = await startTracing(settings, { process: name, logger });
  let close = () => Promise.resolve();
  const { drainSeconds } = settings.workers;
  const { stop, isStopping } = stopOnSignals({
    logger,
    message: 'worker stopping',
    drainSeconds,
    close: () => close(),
  });
  hasBeenStopped = isStopping;
  const audit = openAudit(settings, { logger, process: name, onExit });
  const context = await createWorkerContext(settings, logger, audit);
  close = context.close;
  const onOther = (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    stop('another object storage', EXIT_WRONG_SETTINGS);
  };
  const storage = { marker: context.storageMarker, advice: storageAdvice(settings), logger };
  const usesStorage = queues.data.some((queue) => STORAGE_QUEUES.includes(queue));
  const stopFollowing = usesStorage ? await waitForStorage(storage, onOther) : null;
  const unwatch = watchDataSet(context.redis, context.dataSet, {
    index: () => null,
    onChange: () => stop('the data was reindexed', EXIT_DATA_CHANGED),
  });
  const served = await Promise.all(queues.data.map((queue) => serveQueue(queue, context)));
  close = async () => {
    stopFollowing?.();
    unwatch();
    await Promise.all(served.map((each) => each.close(drainSeconds * 1_000)));
    await context.close();
    await audit?.close();
    await closeTracing();
  };
  logger.info({ queues: queues.data }, 'worker started');
}

const onExit = (end: () => void) => process.once('exit', end);

const createOwnLogger = (settings: Settings, name: string): Logger =>
  createLogger({
    level: settings.log.level,
    process: name,
    onExit,
    addFields: traceFieldsOf(settings),
  });

/** Queues whose jobs read or remove source files. */
const STORAGE_QUEUES: readonly QueueName[] = ['ingestion', 'maintenance'];

main().catch((error: unknown) => {
  // A start that is interrupted fails, which is no error.
  if (hasBeenStopped()) return;
  failProcess(error);
});
