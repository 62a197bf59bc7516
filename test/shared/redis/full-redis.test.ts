import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { accessGroupOf } from '../../../src/shared/access/access.js';
import { createAccessGroups } from '../../../src/shared/access/access-groups.js';
import { createCacheStore } from '../../../src/shared/caches/cache-store.js';
import { removeCache, startBuild } from '../../../src/shared/caches/transitions.js';
import { claimIndex } from '../../../src/shared/data-set/data-set.js';
import { FIRST_VECTORS } from '../../../src/shared/data-set/stored-vectors.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { cancel, patch, remove } from '../../../src/shared/documents/transitions.js';
import { createRedis, type Redis } from '../../../src/shared/redis/client.js';
import { createWorkOffSet } from '../../../src/workers/work-off-set.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { takeLease } from '../../../src/shared/redis/lease.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { createAggregateUsage } from '../../../src/workers/aggregate-usage.js';
import { createUsage, usageEvent } from '../../../src/shared/usage/usage.js';
import { makeDocument } from '../../support/documents.js';
import { startQueryEngine } from '../../support/query-engine-server.js';
import { describeWithQueryEngine } from '../../support/query-engine.js';
import { startTestRedis, type TestRedis } from '../../support/redis.js';
import { rejection } from '../../support/rejection.js';

describe('on plain Redis', () => {
  testFullRedis(() => startTestRedis());
});
describeWithQueryEngine('on a Redis with the Query Engine', (engine) => {
  testFullRedis(() => startQueryEngine(engine));
});

/** Tests work that removes, takes rights away or only reads, at `maxmemory` with `noeviction`. */
function testFullRedis(start: () => Promise<TestRedis>): void {
  let server: TestRedis;
  let redis: Redis;

  beforeAll(async () => {
    server = await start();
    redis = createRedis(server.url, { failFast: true, onError: () => undefined });
    await redis.connect();
  });
  beforeEach(async () => {
    await redis.configSet('maxmemory', '0');
    await redis.flushAll();
  });
  afterAll(async () => {
    redis.destroy();
    await server.stop();
  });

  const fill = () => redis.configSet('maxmemory', '1');
  const users = (count: number) => Array.from({ length: count }, (_, i) => `user-${String(i)}`);

  test('it refuses what grows', async () => {
    const records = createRecords(redis);
    await fill();
    expect(String(await rejection(records.create(makeDocument())))).toMatch(/OOM/);
  });

  test('a process can start again with the index that serves', async () => {
    await claimIndex(redis, 'quire-1', FIRST_VECTORS);
    await fill();
    await claimIndex(redis, 'quire-1', FIRST_VECTORS);
    expect(String(await rejection(claimIndex(redis, 'quire-2', FIRST_VECTORS)))).toMatch(
      /is served by the index quire-1/,
    );
    await redis.configSet('maxmemory', '0');
    await redis.flushAll();
    await fill();
    expect(String(await rejection(claimIndex(redis, 'quire-1', FIRST_VECTORS)))).toMatch(/OOM/);
  });

  test('documents are removed, cancelled and closed to somebody', async () => {
    const records = createRecords(redis);
    const [first, second, third] = [makeDocument({ readers: users(10) }), makeDocument(), makeDocument()];
    for (const each of [first, second, third]) await records.create(each);
    await fill();
    const revoke = () =>
      records.update(first.id, (each) => ({ ...patch(each, { readers: [] }), evenWhenFull: true }));
    expect(await revoke()).toMatchObject({ changed: true, record: { readers: [] } });
    const cancelled = await records.update(second.id, (each) => {
      const change = cancel(each);
      return change && { ...change, evenWhenFull: true };
    });
    expect(cancelled).toMatchObject({ changed: true, record: { status: 'cancelled' } });
    expect(await records.update(third.id, remove)).toMatchObject({ changed: true, record: null });
    const growing = records.update(first.id, (each) => patch(each, { metadata: { a: 'b' } }));
    expect(String(await rejection(growing))).toMatch(/OOM/);
  });

  test('access groups that no record refers to are collected', async () => {
    const groups = createAccessGroups(redis);
    const group = accessGroupOf(makeDocument({ readers: users(1_000) }));
    await groups.register(group ?? raise());
    expect(await redis.hGet(keys.accessGroupsWaiting, group?.owner ?? '')).toBe('1001');
    await fill();
    expect(await groups.collect(Number.MAX_SAFE_INTEGER)).toBe(1);
    expect(await redis.dbSize()).toBe(0);
  });

  test('caches are deleted', async () => {
    const caches = createCacheStore(redis);
    const engine = { name: 'prompt' } as const;
    const config = { model: 'm', ggufFile: 'f', engine, shared: 'all', filters: null } as const;
    const operation = { type: 'create_cache', startedAtMs: 0, metadata: {} } as const;
    const build = { ownerId: 'o', name: 'n', build: 'b', config, documentIds: [], requestId: 'r' };
    await caches.update('o', 'n', (cache) => startBuild(cache, { ...build, operation }));
    await fill();
    expect(await caches.update('o', 'n', removeCache)).toMatchObject({ changed: true });
    expect(await caches.read('o', 'n')).toBeNull();
  });

  test('the sweeper gets its lease, reads are counted, and counts are moved', async () => {
    const usage = createUsage(redis);
    const logger = pino({ level: 'silent' });
    const metrics = { add: () => undefined, observe: () => undefined };
    const aggregate = createAggregateUsage(redis, createWorkOffSet({ logger, metrics }));
    await fill();
    const pause = { pauseKey: keys.sweepPause, pauseMilliseconds: 10, milliseconds: 1_000 };
    expect(await takeLease(redis, { key: keys.sweepLease, ...pause })).not.toBeNull();
    const done = { operation: 'retrieve_chunks', status: 'success', tokens: 0, metadata: {} } as const;
    await usage.append(usageEvent({ ...done, userId: 'u', startedAtMs: Date.now() }));
    expect(await aggregate({ keepDays: 1, keepRecords: 10 })).toBe(1);
    expect(await usage.stats('u')).toEqual({ retrieve_chunks: 1 });
  });

  test('is known to be short of memory, and to be full', async () => {
    const unbounded = createMemoryWatch(redis, 0.85);
    expect([await unbounded.isShort(), await unbounded.isFull()]).toEqual([false, false]);
    await fill();
    const full = createMemoryWatch(redis, 0.85);
    expect([await full.isShort(), await full.isFull()]).toEqual([true, true]);
  });
}

test('an owner has so many access groups that no record refers to, and others are not concerned', async () => {
  const server = await startTestRedis({ arguments: ['--appendonly', 'no'] });
  const redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const groups = createAccessGroups(redis);
  const register = (ownerId: string, list: number) => {
    const readers = Array.from({ length: 1_000 }, (_, i) => `${String(list)}-${String(i)}`);
    return groups.register(accessGroupOf(makeDocument({ ownerId, readers })) ?? raise());
  };
  for (let list = 0; list < 100; list += 1) await register('one', list);
  expect(await rejection(register('one', 100))).toMatchObject({ kind: 'too_many' });
  await register('other', 100);
  // Groups that exist already take nothing more.
  await register('one', 5);
  expect(await groups.collect(Number.MAX_SAFE_INTEGER)).toBe(101);
  await register('one', 100);
  redis.destroy();
  await server.stop();
});

function raise(): never {
  throw new Error('no group');
}
