import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../src/shared/keys.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { createUsage, usageEvent, type Operation, type Usage } from '../../src/shared/usage.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let usage: Usage;

beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  usage = createUsage(redis);
});

afterAll(async () => {
  await redis.close();
  await server.stop();
});

const limits = { keepDays: 90, keepRecords: 10_000 };
const append = (userId: string, operation: Operation, n: number, status: 'success' | 'error' = 'success') =>
  usage.append(
    usageEvent({ operation, userId, status, tokens: n, startedAtMs: Date.now(), metadata: { n } }),
  );

async function aggregateAll() {
  while ((await usage.aggregate(limits)) > 0);
}

describe('usage', () => {
  test('an event can be read as soon as it is appended, and counts once before and after it is moved', async () => {
    await append('ann', 'query', 1);
    await append('ann', 'retrieve_chunks', 2, 'error');
    const before = await usage.recent('ann', { limit: 100 });
    expect(before.map(({ tokens }) => tokens)).toEqual([2, 1]);
    expect(await usage.stats('ann')).toEqual({ query: 1 });
    await aggregateAll();
    expect(await usage.recent('ann', { limit: 100 })).toEqual(before);
    expect(await usage.stats('ann')).toEqual({ query: 1 });
    await aggregateAll();
    expect(await usage.stats('ann')).toEqual({ query: 1 });
  });

  test('nothing is lost or doubled while events are appended and moved by several workers', async () => {
    let isDone = false;
    const workers = [1, 2, 3].map(async () => {
      while (!isDone) await usage.aggregate(limits);
    });
    for (let n = 0; n < 600; n += 1) {
      await append('busy', 'query', n);
      if (n % 50 === 0) {
        expect(await usage.stats('busy')).toEqual({ query: n + 1 });
        const seen = await usage.recent('busy', { limit: 1000 });
        expect(seen.map(({ tokens }) => tokens)).toEqual(Array.from({ length: n + 1 }, (_, i) => n - i));
      }
    }
    isDone = true;
    await Promise.all(workers);
    expect(await usage.stats('busy')).toEqual({ query: 600 });
  });

  test('filters by operation, status and time, over moved and pending records', async () => {
    for (let n = 0; n < 1_200; n += 1) await append('eve', n % 3 === 0 ? 'query' : 'retrieve_docs', n);
    await aggregateAll();
    await append('eve', 'query', 9_999, 'error');
    const queries = await usage.recent('eve', { limit: 1_000, operation: 'query' });
    expect(queries).toHaveLength(401);
    expect(queries[0]?.tokens).toBe(9_999);
    expect(await usage.recent('eve', { limit: 5, operation: 'nonsense' })).toEqual([]);
    expect(await usage.recent('eve', { limit: 5, status: 'error' })).toHaveLength(1);
    expect(await usage.recent('eve', { limit: 5, sinceMs: Date.now() + 1_000 })).toEqual([]);
  });

  test('records are kept up to a number and an age, counts for ever', async () => {
    for (let n = 0; n < 30; n += 1) await append('old', 'query', n);
    await usage.aggregate({ keepDays: 90, keepRecords: 10 });
    expect(await usage.recent('old', { limit: 100 })).toHaveLength(10);
    const ancient = usageEvent({
      ...{ operation: 'query', userId: 'aged', status: 'success', tokens: 1, startedAtMs: 0, metadata: {} },
    });
    await usage.append({ ...ancient, at: '2020-01-01T00:00:00.000Z' });
    await append('aged', 'query', 2);
    await aggregateAll();
    expect(await usage.recent('aged', { limit: 100 })).toHaveLength(1);
    expect(await usage.stats('aged')).toEqual({ query: 2 });
    // Of whoever asks nothing any more, too.
    const days = (await redis.ttl(keys.usageRecords('aged'))) / 86_400;
    expect(days).toBeCloseTo(90, 2);
    expect(await redis.ttl(keys.usageCounters('aged'))).toBe(-1);
  });
});
