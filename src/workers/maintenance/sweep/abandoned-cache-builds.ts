import { jobIds } from '../../../shared/queues/payloads.js';
import { allAtOnce, type SweepParts, type SweepTask } from './sweep-task.js';

const PAGE = 100;

interface WantedBuild {
  readonly ownerId: string;
  readonly name: string;
  readonly build: string;
}

/** Adds jobs for builds of caches that have none. */
export const abandonedCacheBuildsTask = ({ caches, jobs, eachMember, graceMs }: SweepParts): SweepTask => ({
  name: 'caches',
  begin: (now) => {
    let offset = 0;
    const add = (wanted: WantedBuild) => jobs.addCacheBuild({ ...wanted, requestId: 'sweep' });
    return async () => {
      const members = await caches.building(now - graceMs, { offset, count: PAGE });
      offset += members.length;
      const found: WantedBuild[] = [];
      await allAtOnce(eachMember, 'caches', members, async (key) => {
        const cache = await caches.readBuilding(key);
        if (cache?.building) found.push({ ...cache, build: cache.building.build });
      });
      const wanted = found.map(({ build }) => ({ lane: 'cache' as const, id: jobIds.cache(build) }));
      const live = await jobs.areLive(wanted);
      const left = found.filter((_, i) => !live[i]);
      await allAtOnce(eachMember, 'caches', left, ({ ownerId, name, build }) =>
        add({ ownerId, name, build }),
      );
      return members.length === PAGE;
    };
  },
});
