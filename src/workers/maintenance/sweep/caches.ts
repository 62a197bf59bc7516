import { isUpToDate, startRenewal } from '../../../shared/caches/renewal.js';
import { UnavailableError } from '../../../shared/errors.js';
import type { CacheBuildId } from '../../../shared/ports.js';
import { cacheLane } from '../../../shared/queues/additions.js';
import { jobIds } from '../../../shared/queues/payloads.js';
import { allAtOnce, type SweepParts, type SweepTask } from './sweep-task.js';

const STATES_PAGE = 20;

/**
 * Looks at the states that local models have of named caches: removes states that no cache uses, and has states made anew
 * that hold texts which their owners may no longer read or want to see, or which were changed or deleted.
 */
export const keptCacheStatesTask = (parts: SweepParts): SweepTask => ({
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
  const findUsable = () => sharedViews.predicateOf({ callerId: ownerId, shared });
  if (cache.building || (await isUpToDate(records, findUsable, cache.ready))) return;
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
export const abandonedCacheBuildsTask = ({ caches, jobs, workOffSet, graceMs }: SweepParts): SweepTask => ({
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
