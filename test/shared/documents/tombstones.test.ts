import { beforeEach, expect, test } from '@jest/globals';
import { forgetDeletions, wasDeleted } from '../../../src/shared/documents/tombstones.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const NOW = Date.now();
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

/** Notes deletions, as the commit script does: the log has them in the order in which they happened. */
async function bury(name: string, count: number, at: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `${name}-${String(i)}`);
  const last = await redis.incrBy(keys.sequence, count);
  await redis.zAdd(
    keys.changes,
    ids.map((value, i) => ({ value, score: last - count + 1 + i })),
  );
  await redis.zAdd(
    keys.tombstones,
    ids.map((value, i) => ({ value, score: at + i / 10 })),
  );
}

async function forgetAll(): Promise<void> {
  while (await forgetDeletions(redis, NOW));
}

beforeEach(async () => {
  await redis.configSet('maxmemory', '0');
  await redis.flushAll();
});

test('a deletion leaves the change log after a day, also while Redis is full', async () => {
  await bury('old', 3, NOW - DAY - MINUTE);
  await bury('young', 2, NOW - DAY + MINUTE);
  await redis.configSet('maxmemory', '1');
  await forgetAll();
  expect(await redis.zRange(keys.changes, 0, -1)).toEqual(['young-0', 'young-1']);
  expect(await wasDeleted(redis, 'young-0')).toBe(true);
  expect(await wasDeleted(redis, 'old-2')).toBe(false);
  // A mirror that has not read the third change lacks a deletion.
  expect(await redis.get(keys.forgotten)).toBe('3');
});

test('of more than 50,000 deletions the oldest leave the log earlier, but none within two minutes', async () => {
  await bury('hours', 30_000, NOW - 200 * MINUTE);
  await bury('minutes', 30_000, NOW - 3 * MINUTE);
  await redis.zAdd(keys.changes, { value: 'a document', score: await redis.incr(keys.sequence) });
  await forgetAll();
  expect(await redis.zCard(keys.tombstones)).toBe(50_000);
  expect(await redis.zCard(keys.changes)).toBe(50_001);
  expect(await wasDeleted(redis, 'hours-9999')).toBe(false);
  expect(await wasDeleted(redis, 'hours-10000')).toBe(true);
  expect(await redis.get(keys.forgotten)).toBe('10000');

  await bury('seconds', 60_000, NOW - MINUTE);
  await forgetAll();
  expect(await redis.zCard(keys.tombstones)).toBe(60_000);
  expect(await redis.zScore(keys.changes, 'a document')).not.toBeNull();
});
