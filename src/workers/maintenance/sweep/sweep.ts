import { UnavailableError } from '../../../shared/errors.js';
import { toUnavailable } from '../../../shared/redis/client.js';
import type { SweepParts, SweepStep } from './sweep-task.js';
import { tasksOf } from './tasks.js';

/** Called before each step. The sweep ends when it resolves with false. */
export type MayGoOn = () => Promise<boolean>;

export type Sweep = (mayGoOn?: MayGoOn) => Promise<{ requeued: number }>;

/**
 * Finds records that need work and have no job, because a process died at the wrong moment or the queue was lost, and
 * adds the job again: records are the truth, and queues may lose jobs. The tasks of a sweep take turns, a bounded step
 * each, so that none waits for another. A task that fails continues in the next sweep and does not stop the others.
 */
export function createSweep(parts: SweepParts): Sweep {
  const { logger } = parts;
  return async (mayGoOn = () => Promise.resolve(true)) => {
    const now = Date.now();
    let requeued = 0;
    const tasks = tasksOf(parts, (documents) => (requeued += documents));
    let open = tasks.map(({ name, begin }) => ({ name, step: begin(now) }));
    while (open.length > 0) {
      const more: typeof open = [];
      for (const task of open) {
        if (!(await mayGoOn())) return { requeued };
        if (await takeStep(task, logger)) more.push(task);
      }
      open = more;
    }
    return { requeued };
  };
}

async function takeStep(
  { name, step }: { name: string; step: SweepStep },
  logger: SweepParts['logger'],
): Promise<boolean> {
  try {
    return await step();
  } catch (thrown) {
    const error = toUnavailable(thrown);
    if (error instanceof UnavailableError) logger.warn({ err: error, task: name }, 'sweep put off');
    else logger.error({ err: error, task: name }, 'sweep failed');
    return false;
  }
}
