import { beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../../src/shared/redis/keys.js';
import { createUsage, usageEvent, type Operation, type Usage } from '../../../src/shared/usage/usage.js';
import { aggregateUsage } from '../../support/aggregate-usage.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
let usage: Usage;

beforeAll(() => {
  usage = createUsage(redis);
});

const limits = { keepDays: 90, keepRecords: 10_000 };
const append = (userId: string, operation: Operation, n: number, status: 'success' | 'error' = 'success') =>
  usage.append(
    usageEvent({ operation, userId, status, tokens: n, startedAtMs: Date.now(), metadata: { n } }),
  );

async function aggregateAll() {
  while ((await aggregateUsage(redis)(limits)) > 0);
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
      while (!isDone) await aggregateUsage(redis)(limits);
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
    await aggregateUsage(redis)({ keepDays: 90, keepRecords: 10 });
    expect(await usage.recent('old', { limit: 100 })).toHaveLength(10);
    const ancient = usageEvent({
      operation: 'query',
      userId: 'aged',
      status: 'success',
      tokens: 1,
      startedAtMs: 0,
      metadata: {},
    });
    await usage.append({ ...ancient, at: '2020-01-01T00:00:00.000Z' });
    await append('aged', 'query', 2);
    await aggregateAll();
    expect(await usage.recent('aged', { limit: 100 })).toHaveLength(1);
    expect(await usage.stats('aged')).toEqual({ query: 2 });
    // The records also expire when the user sends no more requests.
    const days = (await redis.ttl(keys.usageRecords('aged'))) / 86_400;
    expect(days).toBeCloseTo(90, 2);
    expect(await redis.ttl(keys.usageCounters('aged'))).toBe(-1);
  });
});

const pendingOf = (userId: string) => redis.lRange(keys.usagePending(userId), 0, -1);

describe('one that is poisoned', () => {
  const HALF = '\ud800';

  test('stops neither its own events nor those of other users, whatever is wrong with it', async () => {
    await redis.flushAll();
    const users = [`half ${HALF}`, `half \ud801`, 'ann', 'broken json', 'wrong type', 'urn:user%3A1', 'zoe'];
    for (const user of users) {
      if (user === 'broken json') {
        await redis.rPush(keys.usagePending(user), ['{"id":', 'null', '{"at":"\\ud800"}']);
      }
      if (user === 'wrong type') {
        await redis.set(keys.usagePending(user), 'no list');
        await redis.sAdd(keys.usageDirty, user);
      } else await append(user, 'query', 1);
    }
    // A member that stands for nobody, and one as data of earlier versions holds it.
    await redis.sAdd(keys.usageDirty, ['nobody', '%u', Buffer.from([0xff, 0xfe]).toString('latin1')]);
    let failed = 0;
    const run = () => aggregateUsage(redis, () => (failed += 1))(limits);
    await run();
    expect(failed).toBe(2);
    for (const user of users) {
      if (user === 'wrong type') continue;
      expect([user, await pendingOf(user)]).toEqual([user, []]);
      expect([user, await usage.stats(user)]).toEqual([user, { query: 1 }]);
      expect([user, (await usage.recent(user, { limit: 10 })).map(({ userId }) => userId)]).toEqual([
        user,
        [user],
      ]);
    }
    // The event is kept where it is, to be tried again; an event that cannot be read is kept, too.
    await run();
    expect(failed).toBe(3);
    expect(await redis.sMembers(keys.usageDirty)).toEqual(['wrong type']);
    expect(await redis.lLen(keys.usageRecords('broken json'))).toBe(4);
    await redis.del(keys.usagePending('wrong type'));
    await append('wrong type', 'query', 1);
    await run();
    expect(await usage.stats('wrong type')).toEqual({ query: 1 });
    expect(failed).toBe(3);
  });
});

describe('what a record keeps of a query', () => {
  const kept = (query: string) =>
    usageEvent({
      operation: 'query',
      userId: 'ann',
      status: 'success',
      tokens: 1,
      startedAtMs: 0,
      metadata: { query, k: 4 },
    }).metadata;

  test('is its first 512 characters, and that there were more', () => {
    expect(kept('a'.repeat(512))).toEqual({ query: 'a'.repeat(512), k: 4 });
    expect(kept('a'.repeat(513))).toEqual({ query: 'a'.repeat(512), k: 4, query_truncated: true });
    expect(kept('😀'.repeat(512))).toEqual({ query: '😀'.repeat(512), k: 4 });
    expect(kept(`${'a'.repeat(511)}😀b`)).toEqual({
      query: `${'a'.repeat(511)}😀`,
      k: 4,
      query_truncated: true,
    });
    expect(kept(`${'a'.repeat(511)}\ud83d`)).toEqual({ query: `${'a'.repeat(511)}\ufffd`, k: 4 });
    expect(kept('b'.repeat(32_768))['query']).toHaveLength(512);
  });
});

describe('many events', () => {
  test('that wait are counted and shown once each, page by page, while they are moved', async () => {
    const all = 1_500;
    const events = Array.from({ length: all }, (_, n) =>
      JSON.stringify(
        usageEvent({
          operation: 'query',
          userId: 'many',
          status: 'success',
          tokens: n,
          startedAtMs: 0,
          metadata: {},
        }),
      ),
    );
    await redis.rPush(keys.usagePending('many'), events);
    await redis.sAdd(keys.usageDirty, 'many');
    const stop = new AbortController();
    const moving = [1, 2].map(async () => {
      while (!stop.signal.aborted) await aggregateUsage(redis)(limits);
    });
    for (let round = 0; round < 5; round += 1) {
      expect(await usage.stats('many')).toEqual({ query: all });
      const seen = await usage.recent('many', { limit: 1_000 });
      expect(seen.map(({ tokens }) => tokens)).toEqual(Array.from({ length: 1_000 }, (_, i) => all - 1 - i));
      const rare = await usage.recent('many', { limit: 10, status: 'error' });
      expect(rare).toEqual([]);
    }
    stop.abort();
    await Promise.all(moving);
    await aggregateAll();
    expect(await redis.lLen(keys.usageRecords('many'))).toBe(all);
    expect(await redis.hGet(keys.usageTotals, 'query|success')).toBeDefined();
  });

  test('of earlier versions, whose positions nobody counted, are shown with the new ones', async () => {
    const old = [1, 2, 3].map((n) =>
      JSON.stringify(
        usageEvent({
          operation: 'query',
          userId: 'vera',
          status: 'success',
          tokens: n,
          startedAtMs: 0,
          metadata: {},
        }),
      ),
    );
    await redis.rPush(keys.usageRecords('vera'), old);
    await redis.hSet(keys.usageCounters('vera'), 'query', 3);
    await append('vera', 'query', 4);
    const tokens = async () => (await usage.recent('vera', { limit: 10 })).map((event) => event.tokens);
    expect(await tokens()).toEqual([4, 3, 2, 1]);
    await aggregateAll();
    expect(await tokens()).toEqual([4, 3, 2, 1]);
    expect(await usage.stats('vera')).toEqual({ query: 4 });
  });
});
