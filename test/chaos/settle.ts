import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../../src/shared/redis/client.js';
import { addTo } from '../../src/shared/at.js';
import { keys } from '../../src/shared/redis/keys.js';
import { figure } from '../../src/shared/redis/memory.js';
import { REASONS } from '../../src/workers/queues/fail-job.js';
import type { Arena } from './arena.js';
import { askCalmly, forEachOf } from './calm.js';
import { POSTMASTER } from './mails/post-office.js';
import { readAllRecords } from './oracle/records.js';
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
        const told = `after ${String(PATIENCE_MS / 1000)} s, ${await describeRoom(redis)}`;
        for (const [what, id] of open)
          history.violate('everything becomes final', `${what} ${told}: ${id}`, id);
        return;
      }
      await sleep(250);
    }
  });
}

/** Describes the memory of Redis, and what it is promised to. */
async function describeRoom(redis: Redis): Promise<string> {
  const info = await redis.info('memory');
  const megabytes = (name: string) => String(Math.round(figure(info, name) / 2 ** 20));
  const [reserved, waiting, records] = await Promise.all([
    redis.hGetAll(keys.reservedRoom),
    redis.hGetAll(keys.waitingForRoom),
    readAllRecords(redis),
  ]);
  const counts = new Map<string, number>();
  for (const { ownerId } of records) addTo(counts, ownerId);
  const owners = [...counts].map(([owner, count]) => `${owner} ${String(count)}`).join(', ');
  return (
    `with ${megabytes('used_memory')} of ${megabytes('maxmemory')} MB used by the documents of ${owners}; ` +
    `reserved ${JSON.stringify(reserved)}, waiting ${JSON.stringify(waiting)}`
  );
}

/** Attachments are ingested once their message is, and may themselves carry some. */
const MAX_ROUNDS = 5;

/**
 * Retries the documents that failed because their worker was killed three times, as their owners would. Nothing of them is
 * lost if each is completed then.
 */
export async function retryKilled(arena: Arena, redis: Redis): Promise<number> {
  let retried = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const killed = (await readAllRecords(redis)).filter(
      ({ status, ownerId, error }) =>
        status === 'failed' &&
        error?.message.endsWith(REASONS.poison) === true &&
        [...arena.callers, POSTMASTER].includes(ownerId),
    );
    if (killed.length === 0) break;
    retried += killed.length;
    await forEachOf(killed, async ({ id, ownerId }, at) => {
      arena.history.note('retried, since its workers were killed', id);
      arena.ledger.ingest(id).max += 1;
      for (const operation of ['ingest_text', 'ingest_file']) arena.ledger.begin(ownerId, operation);
      await askCalmly(arena, ownerId, { method: 'POST', path: `/documents/${id}/retry`, api: at });
    });
    await settleAll(arena);
  }
  return retried;
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
