import { randomUUID } from 'node:crypto';
import type { Redis } from './client.js';
import { keys } from './keys.js';

/** The random id of the installation whose data this Redis holds. It is made when it is first asked for. */
export async function readInstallation(redis: Redis): Promise<string> {
  for (;;) {
    const id = await redis.get(keys.installation);
    if (id !== null) return id;
    await redis.set(keys.installation, randomUUID(), { condition: 'NX' });
  }
}
