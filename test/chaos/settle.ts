import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Arena } from './arena.js';
import { withRedis } from './with-redis.js';

const PATIENCE_MS = 240_000;

/** Waits until the service has nothing to do any more; work that never gets done is a broken promise. */
export async function settleAll(arena: Arena): Promise<void> {
  const { cluster, history } = arena;
  await cluster.untilReady();
  await withRedis(cluster.redis.url, async (redis) => {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const open = await openWork(redis);
      if (open.length === 0) return;
      if (performance.now() > end) {
        for (const [what, id] of open)
          history.violate(
            'everything becomes final',
            `${what} after ${String(PATIENCE_MS / 1000)} s: ${id}`,
            id,
          );
        return;
      }
      await sleep(250);
    }
  });
}

async function openWork(redis: Redis): Promise<[string, string][]> {
  const [unfinished, building, garbage, hidden, dirty, sources] = await Promise.all([
    redis.zRange(keys.unfinished, 0, -1),
    redis.zRange(keys.cachesBuilding, 0, -1),
    redis.sMembers(keys.garbage),
    redis.sMembers(keys.hidden),
    redis.sMembers(keys.usageDirty),
    redis.zRange(keys.unreferencedObjects, 0, -1),
  ]);
  const named = (what: string, ids: readonly string[]) => ids.map((id): [string, string] => [what, id]);
  return [
    ...named('an unfinished document', unfinished),
    ...named('a cache being built', building),
    ...named('a generation not cleaned up', garbage),
    ...named('a hidden generation', hidden),
    ...named('usage not aggregated', dirty),
    ...named('a source that nothing refers to', sources),
  ];
}
