import { expect, test } from '@jest/globals';
import { defineFrequentScript } from '../../../src/shared/redis/client.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const script = defineFrequentScript<number>(`
-- counts
return redis.call('INCRBY', KEYS[1], ARGV[1])
`);
const count = (by: string) => script.run(redis, { keys: ['count'], arguments: [by] });

test('a frequent script runs once, on a server that knows it, does not yet, or has forgotten it', async () => {
  await redis.scriptFlush();
  expect(await count('1')).toBe(1);
  expect(await count('2')).toBe(3);
  await redis.scriptFlush();
  expect(await Promise.all([count('3'), count('4')])).toHaveLength(2);
  expect(await redis.get('count')).toBe('10');
});

test('its own errors are passed on, and it does not run again', async () => {
  await redis.set('count', '1');
  await expect(count('x')).rejects.toThrow('not an integer');
  expect(await redis.get('count')).toBe('1');
});
