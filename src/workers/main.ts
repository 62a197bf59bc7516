import { inspect, parseArgs } from 'node:util';
import { z } from 'zod';
import { loadSettings, SettingsError } from '../shared/config.js';
import { DataSetError } from '../shared/data-set.js';
import { EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { QUEUES } from '../shared/jobs.js';
import { createLogger } from '../shared/logger.js';
import { createWorkerContext } from './context.js';
import { serveQueue } from './serve.js';

const { values } = parseArgs({ options: { queues: { type: 'string', default: QUEUES.join(',') } } });
const queues = z.array(z.enum(QUEUES)).safeParse(values.queues.split(','));

async function main(): Promise<void> {
  if (!queues.success) throw new Error(`--queues takes a list of ${QUEUES.join(', ')}`);
  const settings = loadSettings(process.env, ['redis']);
  const logger = createLogger({ level: settings.log.level, process: `worker-${values.queues}` });
  const context = await createWorkerContext(settings, logger);
  const served = await Promise.all(queues.data.map((queue) => serveQueue(queue, context)));
  logger.info({ queues: queues.data }, 'worker started');

  let stopping = false;
  const stop = async (reason: string) => {
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, 'worker stopping');
    // Even a Redis that never answers again must not keep the process alive.
    setTimeout(() => process.exit(1), (settings.workers.drainSeconds + 4) * 1_000).unref();
    await Promise.all(served.map((each) => each.close(settings.workers.drainSeconds * 1_000)));
    await context.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        logger.error({ err: error }, 'worker did not stop cleanly');
        process.exit(1);
      });
    });
  }
}

main().catch((error: unknown) => {
  const isOurs = error instanceof SettingsError || error instanceof DataSetError;
  process.stderr.write(`${isOurs ? error.message : inspect(error)}\n`);
  process.exit(isOurs ? EXIT_WRONG_SETTINGS : 1);
});
