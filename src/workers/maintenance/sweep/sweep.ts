import { createAccessGroups } from '../../../shared/access/access-groups.js';
import { UnavailableError } from '../../../shared/errors.js';
import { LANES } from '../../../shared/queues/lanes.js';
import { toUnavailable } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { abandonedDocumentsTask } from './abandoned-documents.js';
import { contentHashesTask, filterTagsTask, ownedTask } from './after-updates.js';
import { abandonedCacheBuildsTask, keptCacheStatesTask } from './caches.js';
import { garbageGenerationsTask, strayGenerationsTask } from './discarded-generations.js';
import type { SweepParts, SweepStep, SweepTask } from './sweep-task.js';

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

/** All tasks of a sweep, in the order in which they take their steps. */
function tasksOf(parts: SweepParts, onRequeued: (documents: number) => void): SweepTask[] {
  return [
    abandonedDocumentsTask(parts, onRequeued),
    abandonedCacheBuildsTask(parts),
    keptCacheStatesTask(parts),
    strayGenerationsTask(parts),
    garbageGenerationsTask(parts),
    deletionsInChangeLogTask(parts),
    contentHashesTask(parts),
    filterTagsTask(parts),
    ownedTask(parts),
    unusedAccessGroupsTask(parts),
    ...LANES.map((lane): SweepTask => ({
      name: `time of ${lane}`,
      begin: () => () => parts.jobs.rebase(lane),
    })),
    unreferencedObjectsTask(parts),
  ];
}

const TOMBSTONE_MS = 86_400_000;
const TOMBSTONES_PAGE = 200;

/** Removes the entries of deleted documents, after every mirror has had a day to read them. */
const deletionsInChangeLogTask = ({ redis }: SweepParts): SweepTask => ({
  name: 'tombstones',
  begin: (now) => async () => {
    const buried = await redis.zRange(keys.tombstones, '-inf', now - TOMBSTONE_MS, {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: TOMBSTONES_PAGE },
    });
    if (buried.length > 0)
      await redis.multi().zRem(keys.changes, buried).zRem(keys.tombstones, buried).exec();
    return buried.length === TOMBSTONES_PAGE;
  },
});

/** After this time the sweep goes on with other tasks; the next sweep continues. */
const MAX_REMOVAL_MS = 60_000;

/** Removes source objects that are no longer referenced, as long as there are more, so that replacing cannot outpace it. */
const unreferencedObjectsTask = ({ removeObjects }: SweepParts): SweepTask => ({
  name: 'objects',
  begin: (now) => async () => {
    const { removed, kept } = await removeObjects();
    return removed + kept > 0 && Date.now() - now < MAX_REMOVAL_MS;
  },
});

/** The tags of chunks may name an access group for longer than a record does, until they are rewritten. */
const GRACE_MS = 600_000;
/** Applies while Redis is short of memory. An access group is stored before its record, and this is longer than that takes. */
const SHORT_GRACE_MS = 60_000;

/** Removes access groups that no record has referred to for a while. */
const unusedAccessGroupsTask = ({ redis, memory }: SweepParts): SweepTask => ({
  name: 'access groups',
  begin: (now) => {
    const groups = createAccessGroups(redis);
    return async () => {
      const grace = (await memory.isShort()) ? SHORT_GRACE_MS : GRACE_MS;
      return (await groups.collect(now - grace)) > 0;
    };
  },
});
