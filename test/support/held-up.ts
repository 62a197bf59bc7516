import { z } from 'zod';
import type { Redis } from '../../src/shared/redis/client.js';
import { watchSlowdown } from './slowdown.js';

/** Name of an event, when it came last, and how many milliseconds it took then and at most. */
const events = z.array(z.tuple([z.string(), z.number(), z.number(), z.number()]).rest(z.unknown()));

/**
 * From now until it is asked: the longest that a single thing held Redis up, a command, a module or a cycle of its own, by
 * its latency monitor. That goes by the clock: the time is divided by how much longer the server took than it ran.
 */
export async function watchHeldUp(redis: Redis): Promise<() => Promise<number>> {
  await redis.configSet('latency-monitor-threshold', '10');
  await redis.sendCommand(['LATENCY', 'RESET']);
  const pid = /process_id:(\d+)/.exec(await redis.info('server'))?.[1] ?? '';
  const slowdown = await watchSlowdown(pid);
  return async () => {
    const found = events.parse(await redis.sendCommand(['LATENCY', 'LATEST']));
    return Math.max(0, ...found.map(([, , , most]) => most)) / (await slowdown());
  };
}
