import type { Redis } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { keysUnder } from '../../support/keys-under.js';
import type { Arena } from '../arena.js';
import { askCalmly, forEachOf } from '../calm.js';
import { settleAll } from '../settle.js';
import { checkGone } from './documents.js';
import { checkLeftovers } from './leftovers.js';
import { listAll } from './lists.js';
import { checkOwned } from './owned.js';
import { readAllRecords } from './records.js';
import { checkStatistics } from './statistics.js';

/** Deletes everything, and looks for anything that is left anywhere. */
export async function checkEmptied(arena: Arena, redis: Redis): Promise<void> {
  await forEachOf([...arena.world.documents.values()], async (document, at) => {
    const write = document.removal.begin(true, arena.history.tick());
    const path = `/documents/${document.id}`;
    const { status } = await askCalmly(arena, document.owner, { method: 'DELETE', path, api: at });
    Object.assign(write, { end: arena.history.tick(), outcome: status === 200 ? 'done' : 'undone' });
  });
  for (const { owner, name } of arena.world.caches.values())
    await askCalmly(arena, owner, { method: 'DELETE', path: `/cache/${name}`, api: 1 });
  await settleAll(arena);
  const records = await readAllRecords(redis);
  for (const { id } of records) arena.history.violate('what was deleted is gone', 'its record is there', id);
  await checkLeftovers(arena, redis, []);
  await checkStatistics(arena, redis);
  await checkOwned(arena, []);
  for (const caller of arena.callers) {
    const left = await listAll(arena, caller);
    if (left.length > 0)
      arena.history.violate('what was deleted is gone', `listed for ${caller}`, left[0] ?? null);
    const caches = await keysUnder(redis, keys.caches(caller));
    if (caches.length > 0) arena.history.violate('a deleted cache is gone', caches.join());
  }
  await forEachOf([...arena.world.documents.values()], (document, at) => checkGone(arena, document, at));
}
