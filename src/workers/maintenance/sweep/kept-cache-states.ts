import type { CacheBuildId } from '../../../shared/ports.js';
import { isUpToDate, startRenewal } from '../../../shared/caches/passages.js';
import { UnavailableError } from '../../../shared/errors.js';
import { allAtOnce, type SweepParts, type SweepTask } from './sweep-task.js';

const PAGE = 20;

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
      await allAtOnce(parts.workOffSet, 'caches', left.splice(0, PAGE), (id) => check(parts, id));
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

async function check(parts: SweepParts, id: CacheBuildId): Promise<void> {
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
