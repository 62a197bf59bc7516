import { inspect, parseArgs } from 'node:util';
import { z } from 'zod';
import { loadSettings, SettingsError } from '../shared/config.js';
import { storageAdvice } from '../shared/context.js';
import { DataSetError } from '../shared/data-set.js';
import { EXIT_DATA_CHANGED, EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { QUEUES, type QueueName } from '../shared/jobs.js';
import { createLogger, type Logger } from '../shared/logger.js';
import { watchDataSet } from '../shared/watch-data-set.js';
import { createWorkerContext } from './context.js';
import { findStorage } from './find-storage.js';
import { serveQueue } from './serve.js';

const { values } = parseArgs({ options: { queues: { type: 'string', default: QUEUES.join(',') } } });
const queues = z.array(z.enum(QUEUES)).safeParse(values.queues.split(','));

async function main(): Promise<void> {
  if (!queues.success) throw new Error(`--queues takes a list of ${QUEUES.join(', ')}`);
  const settings = loadSettings(process.env, ['redis']);
  const logger = createLogger({ level: settings.log.level, process: `worker-${values.queues}` });
  let close = () => Promise.resolve();
  const stop = createStop(logger, settings.workers.drainSeconds, () => close());
  const context = await createWorkerContext(settings, logger);
  close = context.close;
  const storage = queues.data.some((queue) => STORAGE_QUEUES.includes(queue))
    ? await findStorage(
        { marker: context.storageMarker, advice: storageAdvice(settings), logger },
        (error) => {
          process.stderr.write(`${error.message}\n`);
          stop('another object storage', EXIT_WRONG_SETTINGS);
        },
      )
    : null;
  const unwatch = watchDataSet(context.redis, context.dataSet, {
    index: () => null,
    onChange: () => stop('the data was reindexed', EXIT_DATA_CHANGED),
  });
  const served = await Promise.all(queues.data.map((queue) => serveQueue(queue, context)));
  close = async () => {
    storage?.close();
    unwatch();
    await Promise.all(served.map((each) => each.close(settings.workers.drainSeconds * 1_000)));
    await context.close();
  };
  logger.info({ queues: queues.data }, 'worker started');
}

/** Queues whose jobs read or remove source files. */
const STORAGE_QUEUES: readonly QueueName[] = ['ingestion', 'maintenance'];

let isStopping = false;

/** Ends the process, at once or a while after it was asked to; signals ask for it too. */
function createStop(logger: Logger, drainSeconds: number, close: () => Promise<void>) {
  const stop = (reason: string, code: number) => {
    if (isStopping) return;
    isStopping = true;
    logger.info({ reason }, 'worker stopping');
    // Even a Redis that never answers again must not keep the process alive.
    setTimeout(() => process.exit(1), (drainSeconds + 4) * 1_000).unref();
    close().then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error({ err: error }, 'worker did not stop cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.on(signal, () => {
      stop(signal, 0);
    });
  }
  return stop;
}

main().catch((error: unknown) => {
  // What was being started fails when it is closed.
  if (isStopping) return;
  const isOurs = error instanceof SettingsError || error instanceof DataSetError;
  process.stderr.write(`${isOurs ? error.message : inspect(error)}\n`);
  process.exit(isOurs ? EXIT_WRONG_SETTINGS : 1);
});
