import type { Redis } from '../../src/shared/redis/client.js';

/** Every key that begins with `prefix`, once: a scan may come to a key twice while the table grows. */
export async function keysUnder(redis: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const page of redis.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 })) {
    for (const key of page) found.add(key);
  }
  return [...found];
}
