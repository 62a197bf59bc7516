import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../../src/shared/redis/client.js';
import { until } from './until.js';

/** Sends a request that waits for a document which has its content already. Resolves when it has found that. */
export async function waitsForKnown<Answer>(
  redis: Redis,
  send: () => Promise<Answer>,
): Promise<{ readonly answering: Promise<Answer> }> {
  const looks = async () =>
    Number(/cmdstat_zrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  const before = await looks();
  const answering = send();
  await until(async () => (await looks()) > before);
  // The record is read after that.
  await sleep(200);
  return { answering };
}
