import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

/**
 * Removes a cache whatever its record holds. Nobody can tell the operation that it was being built for, so nothing is
 * counted.
 */
export async function removeMalformed(
  redis: Redis,
  { ownerId, name }: { readonly ownerId: string; readonly name: string },
): Promise<void> {
  const key = keys.cache(ownerId, name);
  await redis
    .multi()
    .del(key)
    .sRem(keys.caches(ownerId), name)
    .zRem(keys.cachesBuilding, key)
    .publish(keys.changed, key)
    .exec();
}
