import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWithCallerTags } from '../../src/shared/access/with-caller-tags.js';
import { createAccessGroups } from '../../src/shared/access/access-groups.js';
import { createExactIndex } from '../../src/shared/adapters/exact-index/exact-index.js';
import { createSharedViews } from '../../src/shared/access/sharing.js';
import { createCacheStore } from '../../src/shared/caches/cache-store.js';
import { createCollectionStore } from '../../src/shared/collections/collection-store.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { readerTag } from '../../src/shared/access/access.js';
import { createLogger } from '../../src/shared/observability/logger.js';
import type { Index } from '../../src/shared/ports.js';
import { createJobs, type Jobs } from '../../src/shared/queues/jobs.js';
import { bullConnection, createRedis, type Redis } from '../../src/shared/redis/client.js';
import { createWorkOffSet } from '../../src/workers/work-off-set.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createMemoryWatch } from '../../src/shared/redis/memory.js';
import { usageEvent } from '../../src/shared/usage/usage.js';
import { createSweep } from '../../src/workers/maintenance/sweep/sweep.js';
import { aggregateUsage } from '../support/aggregate-usage.js';
import { makeContent, makeDocument } from '../support/documents.js';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../support/query-engine.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { slowCommands } from '../support/slow-commands.js';
import { until } from '../support/until.js';

/** No command of ours holds Redis up for longer, however much there is of everything. */
const MAX_MILLISECONDS = 50;
const DOCUMENTS = 100_000;
/** The number of objects that the sweeper looks after, and of a caller's caches. */
const MANY = 5_000;
const CACHES = 20_000;
const PAGE = 1_000;

function many(start: () => Promise<{ server: TestRedis; open: () => Promise<Index> }>) {
  let server: TestRedis;
  let openIndex: () => Promise<Index>;
  let redis: Redis;
  let jobs: Jobs;

  beforeAll(async () => {
    ({ server, open: openIndex } = await start());
    redis = createRedis(server.url, { failFast: false, onError: () => undefined });
    await redis.connect();
    jobs = createJobs({
      connection: bullConnection(server.url, { failFast: false }),
      redis,
      onError: () => undefined,
    });
    await fill(redis);
  }, 300_000);
  afterAll(async () => {
    await jobs.close();
    redis.destroy();
    await server.stop();
  });

  const slow = (work: () => Promise<unknown>) => slowCommands({ redis }, MAX_MILLISECONDS, work);

  test('a change log of 100,000 documents is read, listed and counted in short steps', async () => {
    const records = createRecords(redis);
    const filter = null;
    const found = await slow(async () => {
      const index = await openIndex();
      await until(async () => (await index.state()) === 'ready', 120);
      for (const skip of [0, 50_000, 99_900]) {
        const { ids } = await index.list({ principal: { id: 'owner' }, filter, skip, limit: 100 });
        expect(ids).toHaveLength(100);
        expect(await records.readMany(ids)).toHaveLength(100);
      }
      await index.close();
    });
    expect(found).toEqual([]);
  }, 300_000);

  test('a sweep of thousands of everything goes in short steps', async () => {
    const logger = createLogger({ level: 'silent', process: 'test' });
    const workOffSet = createWorkOffSet({
      logger,
      metrics: { add: () => undefined, observe: () => undefined },
    });
    const sweep = createSweep({
      redis,
      jobs,
      workOffSet,
      logger,
      graceMs: 0,
      records: createRecords(redis),
      chunks: createChunks(redis),
      caches: createCacheStore(redis),
      collections: createCollectionStore(redis),
      sharedViews: createSharedViews(redis),
      cacheEngines: { kept: () => Promise.resolve([]), forget: () => Promise.resolve() },
      removeObjects: () => Promise.resolve({ removed: 0, kept: 0, failed: 0 }),
      memory: createMemoryWatch(redis, 0.85),
      clean: () => Promise.resolve(),
    });
    const found = await slow(async () => {
      await leaveBehind(redis);
      await sweep();
    });
    expect(found).toEqual([]);
  }, 300_000);

  test('thousands of caches, access groups and callers with usage are looked through in short steps', async () => {
    const caches = createCacheStore(redis);
    const groups = createAccessGroups(redis);
    const withCallerTags = createWithCallerTags(redis);
    const found = await slow(async () => {
      let listed = 0;
      for await (const { ownerId } of caches.list('hoarder')) listed += ownerId === 'hoarder' ? 1 : 0;
      expect(listed).toBe(CACHES);
      await groups.collect(Date.now());
      const tagsAsked = await withCallerTags({ id: 'member' }, ({ tags }) => Promise.resolve(tags.length));
      expect(tagsAsked).toBeGreaterThan(500);
      await dirty(redis);
      await aggregateUsage(redis)({ keepDays: 90, keepRecords: 10_000 });
    });
    expect(found).toEqual([]);
  }, 300_000);
}

/** In pages, as pipelines: each command is small. */
async function inPages(count: number, put: (n: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += PAGE)
    await Promise.all(Array.from({ length: Math.min(PAGE, count - first) }, (_, i) => put(first + i)));
}

/** The document of the first key becomes those of the ids, each with its place in the change log. */
const COPY_DOCUMENTS = `
  for i = 2, #ARGV do
    redis.call('COPY', KEYS[1], KEYS[i + 1])
    redis.call('HSET', KEYS[i + 1], 'id', '"' .. ARGV[i] .. '"')
    redis.call('ZADD', KEYS[2], ARGV[1] + i - 1, ARGV[i])
  end`;

const WRITE_CACHES =
  "for i, json in ipairs(ARGV) do redis.call('HSET', KEYS[i], 'json', json, 'revision', '1') end";

async function fill(redis: Redis): Promise<void> {
  const records = createRecords(redis);
  const like = makeDocument({
    published: makeContent({ generation: null, chunkCount: 0 }),
    pending: null,
    status: 'completed',
    metadata: { colour: 'red' },
  });
  await records.create(like);
  for (let first = 0; first < DOCUMENTS - 1; first += PAGE) {
    const ids = Array.from({ length: Math.min(PAGE, DOCUMENTS - 1 - first) }, () => randomUUID());
    await redis.eval(COPY_DOCUMENTS, {
      keys: [keys.document(like.id), keys.changes, ...ids.map((id) => keys.document(id))],
      arguments: [String(first + 9), ...ids],
    });
  }
  await redis.set(keys.sequence, String(DOCUMENTS + 10));
  const cache = {
    ownerId: 'hoarder',
    ready: null,
    building: null,
    failure: { build: 'b', config: { model: 'm', ggufFile: '', filters: null }, code: 'empty', message: '' },
    revision: 1,
  };
  for (let first = 0; first < CACHES; first += PAGE) {
    const names = Array.from({ length: PAGE }, (_, i) => `cache-${String(first + i)}`);
    await redis.sAdd(keys.caches('hoarder'), names);
    await redis.eval(WRITE_CACHES, {
      keys: names.map((name) => keys.cache('hoarder', name)),
      arguments: names.map((name) => JSON.stringify({ ...cache, name })),
    });
  }
  const member = keys.accessGroupsOf(readerTag('member'));
  await inPages(512, (n) => redis.zAdd(member, { score: 0, value: `${String(n)}:a` }));
  await redis.sAdd(
    keys.accessGroupOverflows,
    Array.from({ length: CACHES }, (_, n) => `owner-${String(n)}`),
  );
}

/** Documents without a job, generations without a document, tombstones, garbage. */
async function leaveBehind(redis: Redis): Promise<void> {
  const records = createRecords(redis);
  await inPages(MANY, (n) =>
    Promise.all([
      n % 10 === 0 ? records.create(makeDocument()) : null,
      redis.sAdd(keys.hidden, `${randomUUID()}.1.1`),
      redis.sAdd(keys.garbage, `${randomUUID()}.1.1`),
      redis.zAdd(keys.tombstones, { value: randomUUID(), score: n }),
    ]),
  );
}

async function dirty(redis: Redis): Promise<void> {
  const users = Array.from({ length: CACHES }, (_, n) => `user-${String(n)}`);
  for (const [n, userId] of users.entries()) {
    if (n % 20 !== 0) continue;
    const event = usageEvent({
      operation: 'query',
      userId,
      status: 'success',
      tokens: n,
      startedAtMs: Date.now(),
      metadata: {},
    });
    await redis.rPush(keys.usagePending(userId), JSON.stringify(event));
  }
  for (let first = 0; first < CACHES; first += PAGE)
    await redis.sAdd(keys.usageDirty, users.slice(first, first + PAGE));
}

describe('on plain Redis', () => {
  many(async () => {
    const server = await startTestRedis({ arguments: ['--appendfsync', 'everysec'] });
    return { server, open: () => Promise.resolve(createExactIndex({ redisUrl: server.url })) };
  });
});

describeWithQueryEngine('with the Query Engine', (engine) => {
  many(async () => {
    const server = await startQueryEngine(engine, { server: ['--appendfsync', 'everysec'] });
    return { server, open: () => openQueryEngineIndex(server.url) };
  });
});
