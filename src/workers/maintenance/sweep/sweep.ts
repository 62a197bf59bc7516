import { createAccessGroups } from '../../../shared/access/access-groups.js';
import { principalOf } from '../../../shared/access/access.js';
import { at } from '../../../shared/at.js';
import { isUpToDate, startRenewal } from '../../../shared/caches/passages.js';
import { forgetDeletions } from '../../../shared/documents/tombstones.js';
import { latestAttempts } from '../../../shared/documents/transitions.js';
import { UnavailableError } from '../../../shared/errors.js';
import type { CacheBuildId } from '../../../shared/ports.js';
import { cacheLane, jobIds } from '../../../shared/queues/job-kinds.js';
import { LANES } from '../../../shared/queues/lanes.js';
import { toUnavailable } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { abandonedDocumentsTask } from './abandoned-documents.js';
import { contentHashesTask, filterTagsTask, ownedTask } from './after-updates.js';
import { scanSet, allAtOnce, type SweepParts, type SweepStep, type SweepTask } from './sweep-task.js';

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
    expiredCollectionsTask(parts),
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

/** Removes deletions from the change log. */
const deletionsInChangeLogTask = ({ redis }: SweepParts): SweepTask => ({
  name: 'tombstones',
  begin: (now) => () => forgetDeletions(redis, now),
});

const COLLECTIONS_PAGE = 20;

/** Removes collections that were not used for as long as they say. Nobody sees them from that moment on; their documents stay. */
const expiredCollectionsTask = ({ collections }: SweepParts): SweepTask => ({
  name: 'collections',
  begin: () => async () => (await collections.removeExpired(COLLECTIONS_PAGE)) === COLLECTIONS_PAGE,
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

const GARBAGE_PAGE = 200;

/** Adds jobs for discarded generations that no job cleans. While Redis is full, queues stand still, so it cleans them itself. */
const garbageGenerationsTask = ({ redis, jobs, memory, clean, workOffSet }: SweepParts): SweepTask => ({
  name: 'garbage',
  begin: () =>
    scanSet(redis, keys.garbage, {
      page: GARBAGE_PAGE,
      work: async (generations) => {
        if (await memory.isFull()) {
          await workOffSet('garbage', generations, clean);
          return;
        }
        const wanted = generations.map((each) => ({ lane: 'maintenance' as const, id: jobIds.clean(each) }));
        const live = await jobs.areLive(wanted);
        await jobs.addCleans(
          generations.filter((_, i) => !live[i]),
          '',
        );
      },
    }),
});

const STRAYS_PAGE = 100;

/** Discards hidden generations that belong to no current attempt. A run that was superseded has left them behind. */
const strayGenerationsTask = (parts: SweepParts): SweepTask => ({
  name: 'strays',
  begin: (now) => {
    const work = (page: string[]) =>
      allAtOnce(parts.workOffSet, 'hidden', page, (generation) => discardIfStray(parts, generation, now));
    return scanSet(parts.redis, keys.hidden, { page: STRAYS_PAGE, work });
  },
});

async function discardIfStray(
  { redis, records }: SweepParts,
  generation: string,
  now: number,
): Promise<void> {
  if ((await redis.sIsMember(keys.garbage, generation)) === 1) return;
  const record = await records.read(at(generation.split('.'), 0));
  if (record?.pending && latestAttempts(record).includes(generation)) return;
  // The generation was published after the page was read.
  if (record?.published?.generation === generation) return;
  await redis
    .multi()
    .sAdd(keys.garbage, generation)
    .hSet(keys.generation(generation), { discarded: String(now) })
    .exec();
}

const STATES_PAGE = 20;

/**
 * Looks at the states that local models have of named caches: removes states that no cache uses, and has states made anew
 * that hold texts which their owners may no longer read or want to see, or which were changed or deleted.
 */
const keptCacheStatesTask = (parts: SweepParts): SweepTask => ({
  name: 'cache states',
  begin: () => {
    let left: CacheBuildId[] | null = null;
    return async () => {
      left ??= await keptBuilds(parts);
      await allAtOnce(parts.workOffSet, 'caches', left.splice(0, STATES_PAGE), (id) => checkState(parts, id));
      return left.length > 0;
    };
  },
});

/** None while the process with local models is away. */
async function keptBuilds({ cacheEngines }: SweepParts): Promise<CacheBuildId[]> {
  try {
    return await cacheEngines.kept();
  } catch (error) {
    if (error instanceof UnavailableError) return [];
    throw error;
  }
}

async function checkState(parts: SweepParts, id: CacheBuildId): Promise<void> {
  const { caches, jobs, records, cacheEngines, sharedViews } = parts;
  const { ownerId, name, build } = id;
  const cache = await caches.read(ownerId, name);
  if (cache?.building?.build === build) return;
  if (cache?.ready?.build !== build) return cacheEngines.forget(id);
  const { shared } = cache.ready.config;
  const findUsable = () => sharedViews.predicateOf({ principal: principalOf(ownerId), shared });
  if (cache.building || (await isUpToDate(records, { ownerId, findUsable }, cache.ready))) return;
  await startRenewal({ caches, jobs }, { ownerId, name, requestId: 'sweep' });
}

const BUILDS_PAGE = 100;

interface WantedBuild {
  readonly ownerId: string;
  readonly name: string;
  readonly build: string;
  readonly documents: number;
}

/** Adds jobs for builds of caches that have none. */
const abandonedCacheBuildsTask = ({ caches, jobs, workOffSet, graceMs }: SweepParts): SweepTask => ({
  name: 'caches',
  begin: (now) => {
    let offset = 0;
    const add = ({ ownerId, name, build, documents }: WantedBuild) =>
      jobs.addCacheBuild({ ownerId, name, build, requestId: 'sweep' }, { documents });
    return async () => {
      const members = await caches.building(now - graceMs, { offset, count: BUILDS_PAGE });
      offset += members.length;
      const found: WantedBuild[] = [];
      await allAtOnce(workOffSet, 'caches', members, async (key) => {
        const cache = await caches.readBuilding(key);
        if (!cache?.building) return;
        const { build, documentIds } = cache.building;
        found.push({ ownerId: cache.ownerId, name: cache.name, build, documents: documentIds.length });
      });
      const wanted = found.map((each) => ({ lane: cacheLane(each), id: jobIds.cache(each.build) }));
      const live = await jobs.areLive(wanted);
      const left = found.filter((_, i) => !live[i]);
      await allAtOnce(workOffSet, 'caches', left, add);
      return members.length === BUILDS_PAGE;
    };
  },
});
