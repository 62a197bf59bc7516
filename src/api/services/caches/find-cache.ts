import type { CacheConfig, CacheRecord } from '../../../shared/caches/cache-record.js';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import { NotFoundError } from '../../../shared/errors.js';

/** @throws NotFoundError */
export async function findCache(
  caches: Pick<CacheStore, 'read'>,
  { ownerId, name }: { readonly ownerId: string; readonly name: string },
): Promise<CacheRecord> {
  const cache = await caches.read(ownerId, name);
  if (!cache) throw cacheNotFound(name);
  return cache;
}

/** Returns the configuration of the newest build, whatever became of it. */
export function shownConfig({ ready, building, failure }: CacheRecord): CacheConfig {
  const config = building?.config ?? ready?.config ?? failure?.config;
  if (!config) throw new Error('a cache without a configuration');
  return config;
}

export function cacheNotFound(name: string): NotFoundError {
  return new NotFoundError(`Cache '${name}' not found`);
}
