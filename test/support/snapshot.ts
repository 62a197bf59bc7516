import { RESP_TYPES } from 'redis';
import type { Redis } from '../../src/shared/redis/client.js';

/** Everything that Redis holds, to be put back: as it comes back after a crash without its last writes. */
export async function takeSnapshot(redis: Redis): Promise<() => Promise<void>> {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const dumps: [string, Buffer][] = [];
  for (const key of await redis.keys('*')) {
    const dump = await binary.sendCommand(['DUMP', key]);
    if (dump instanceof Buffer) dumps.push([key, dump]);
  }
  return async () => {
    const all = redis.multi().flushAll();
    for (const [key, dump] of dumps) all.addCommand(['RESTORE', key, '0', dump]);
    await all.exec();
  };
}
