import { UnavailableError } from '../../../shared/errors.js';
import { LANES } from '../../../shared/queues/jobs.js';
import { toUnavailable } from '../../../shared/redis/client.js';
import { accessGroupsTask } from './access-groups.js';
import { cachesTask } from './caches.js';
import { documentsTask } from './documents.js';
import { straysTask } from './strays.js';
import type { SweepParts, SweepStep, SweepTask } from './task.js';
import { garbageTask, objectsTask, tombstonesTask } from './waste.js';

/** Asked before each step; the sweep ends when the answer is no. */
export type MayGoOn = () => Promise<boolean>;

export type Sweep = (mayGoOn?: MayGoOn) => Promise<{ requeued: number }>;

/**
 * Finds what no job looks after any more, because a process died at the wrong moment or the queue was lost, and
 * gives it a job again. The records are the truth, the queue is only the way. Its tasks take turns, a bounded step each,
 * so that none waits for another; one that fails waits for the next sweep and stops no other.
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

function tasksOf(parts: SweepParts, onRequeued: (documents: number) => void): SweepTask[] {
  return [
    documentsTask(parts, onRequeued),
    cachesTask(parts),
    straysTask(parts),
    garbageTask(parts),
    tombstonesTask(parts),
    accessGroupsTask(parts),
    ...LANES.map((lane): SweepTask => ({
      name: `time of ${lane}`,
      begin: () => () => parts.jobs.recede(lane),
    })),
    objectsTask(parts),
  ];
}
