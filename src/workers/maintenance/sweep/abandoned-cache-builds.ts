import { cacheLane } from '../../../shared/queues/additions.js';
import { jobIds } from '../../../shared/queues/payloads.js';
import { allAtOnce, type SweepParts, type SweepTask } from './sweep-task.js';

const PAGE = 100;

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
      const members = await caches.building(now - graceMs, { offset, count: PAGE });
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
      return members.length === PAGE;
    };
  },
});
