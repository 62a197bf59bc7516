import { afterEach, expect, test } from '@jest/globals';
import { createWithCallerTags } from '../../../../src/shared/access/with-caller-tags.js';
import { documentIndex } from '../../../../src/shared/adapters/query-engine-index/definition.js';
import { createListing } from '../../../../src/shared/adapters/query-engine-index/listing.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { parsed, unit } from '../../../contracts/index-data.js';
import { fillIndex } from '../../../support/fill-index.js';
import {
  chunkCount,
  CHUNKS,
  createQueryEngineBench,
  documentCount,
  isReady,
  listCount,
} from '../../../support/query-engine-bench.js';
import { describeWithQueryEngine } from '../../../support/query-engine.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

const LIMIT = 'INDEX_CURSOR_LIMIT';

describeWithQueryEngine('a Query Engine index in trouble', (engine) => {
  const { start, connect, open, dataOf, closeAll } = createQueryEngineBench(engine);
  afterEach(closeAll);

  test('two that open at the same moment share what they make', async () => {
    const redis = await start();
    const opened = await Promise.all(Array.from({ length: 8 }, () => open(redis)));
    await fillIndex(redis.url, { chunksEach: 10, dimensions: 4, documents: 10 });
    for (const { index, problems } of opened) {
      await until(isReady(index));
      expect([await chunkCount(index), await documentCount(index)]).toEqual([100, 10]);
      expect(problems).toEqual([]);
    }
    const client = await connect(redis);
    expect((await client.ft._list()).sort()).toEqual([CHUNKS.name, documentIndex.name].sort());
  });

  test('warns once when it compares each search with very many vectors', async () => {
    const redis = await start();
    await fillIndex(redis.url, { documents: 2, chunksEach: 10, dimensions: 4 });
    const { problems } = await open(redis, { flatCrowdedAt: 10 });
    await until(() => problems.length > 0);
    const warning: unknown = expect.objectContaining({ level: 'warn', chunks: 20 });
    expect(problems).toEqual([[expect.stringContaining('hnsw'), warning]]);
    const small = await open(redis, { flatCrowdedAt: 20 });
    await until(isReady(small.index));
    expect(small.problems).toEqual([]);
  });

  test('can be closed while it loads, at once', async () => {
    const redis = await start();
    await fillIndex(redis.url, { documents: 500, chunksEach: 10, dimensions: 4 });
    const { index } = await open(redis);
    expect(await index.state()).toBe('loading');
    await index.close();
    expect(await rejection(chunkCount(index))).toBeInstanceOf(UnavailableError);

    let asked = 0;
    const silent = await open(redis, {
      dimensions: () => {
        asked += 1;
        if (asked === 1) return Promise.reject(new UnavailableError('embedding provider'));
        return new Promise(() => undefined);
      },
    });
    await until(() => asked === 2);
    expect(await silent.index.state()).toBe('loading');
    await silent.index.close();
  });

  test('opens while the provider hangs, and is ready once it tells how long its vectors are', async () => {
    const redis = await start();
    let answer: (dimensions: number) => void = () => undefined;
    const told = new Promise<number>((resolve) => (answer = resolve));
    const { index, problems } = await open(redis, { dimensions: () => told });
    expect(await index.state()).toBe('loading');
    expect(problems).toEqual([['the index waits for the dimensions of the vectors', { level: 'warn' }]]);
    answer(4);
    await until(isReady(index));
  });

  test('loads until the provider tells how long its vectors are', async () => {
    const redis = await start();
    let isAway = true;
    const { index } = await open(redis, {
      dimensions: () =>
        isAway ? Promise.reject(new UnavailableError('embedding provider')) : Promise.resolve(4),
    });
    expect(await index.state()).toBe('loading');
    expect(await rejection(documentCount(index))).toBeInstanceOf(UnavailableError);
    isAway = false;
    await until(isReady(index));
  });

  test('a chunk with a vector of the wrong length is told of by its key, and hides no other', async () => {
    const redis = await start();
    const { index, problems } = await open(redis);
    const data = await dataOf(redis);
    const id = await data.create();
    const generation = await data.publish(id, [
      [1, 0, 0, 0],
      [1, 1, 0, 0],
    ]);
    await until(isReady(index));
    expect(await chunkCount(index)).toBe(2);
    await data.redis.hSet(keys.chunk(generation, 0), { vector: Buffer.alloc(12) });
    expect(await chunkCount(index)).toBe(1);
    await until(() => problems.length > 0);
    expect(problems).toEqual([
      [
        'the index could not take in what it was given',
        expect.objectContaining({ level: 'error', failures: 1, lastKey: keys.chunk(generation, 0) }),
      ],
    ]);
  });

  test.each(['return', 'fail'])(
    'a query that takes too long is an error, never a part (ON_TIMEOUT %s)',
    async (how) => {
      const redis = await start({ module: ['ON_TIMEOUT', how], server: ['--appendonly', 'no'] });
      await fillIndex(redis.url, { documents: 6_000, chunksEach: 8, dimensions: 64 });
      const { index } = await open(redis, { dimensions: () => Promise.resolve(64), timeoutMilliseconds: 1 });
      await until(isReady(index));
      const filter = parsed({ n: { $gte: 0 } });
      const vector = unit(Array.from({ length: 64 }, () => 1));
      const outcomes = { whole: 0, refused: 0 };
      const expectWholeOrRefused = async (answer: Promise<number>, whole: number) => {
        try {
          expect(await answer).toBe(whole);
          outcomes.whole += 1;
        } catch (error) {
          if (!(error instanceof UnavailableError)) throw error;
          outcomes.refused += 1;
        }
      };
      for (let tries = 0; tries < 6; tries += 1) {
        const found = index.vectors
          .search({ vector, principal: { id: 'owner' }, filter, limit: 1_000_000 })
          .then(({ length }) => length);
        await expectWholeOrRefused(found, 48_000);
        await expectWholeOrRefused(listCount(index), 6_000);
        await expectWholeOrRefused(documentCount(index), 6_000);
        await expectWholeOrRefused(index.count({ principal: { id: 'owner' }, filter }), 6_000);
        const listed = index
          .list({ principal: { id: 'owner' }, filter, skip: 0, limit: 1_000_000 })
          .then(({ ids }) => ids.length);
        await expectWholeOrRefused(listed, 6_000);
      }
      expect(outcomes.refused).toBeGreaterThan(6);
    },
  );

  test('pages beyond what the engine skips to are the same as if it did', async () => {
    const redis = await start({ server: ['--appendonly', 'no'] });
    await fillIndex(redis.url, { documents: 1_300, chunksEach: 0, dimensions: 4 });
    const { index } = await open(redis);
    await until(isReady(index));
    const client = await connect(redis);
    const readRecords = () => Promise.resolve([]);
    const walking = createListing(client, {
      readRecords,
      withCallerTags: createWithCallerTags(client),
      areOwnersTagged: () => Promise.resolve(true),
      timeoutMilliseconds: 5_000,
      furthestSkip: 100,
    });
    for (const skip of [0, 100, 101, 499, 500, 501, 1_000, 1_299, 1_300, 10_000_000, 1e21]) {
      const listing = { principal: { id: 'owner' }, filter: null, skip, limit: 100 };
      const { ids } = await walking.list(listing);
      expect(ids).toHaveLength(Math.max(0, Math.min(100, 1_300 - skip)));
      expect(ids).toEqual((await index.list(listing)).ids);
    }
  });

  test('more long lists at the same time than the engine has cursors for are all answered', async () => {
    // Older engines, such as 2.10.5, have 128 cursors, and do not start with an option that they do not know.
    const asked = await (await connect(await start())).sendCommand(['FT.CONFIG', 'GET', LIMIT]);
    const [limit, module] = JSON.stringify(asked).includes(LIMIT) ? [8, [LIMIT, '8']] : [128, []];
    const redis = await start({ module, server: ['--appendonly', 'no'] });
    await fillIndex(redis.url, { documents: 600, chunksEach: 0, dimensions: 4 });
    const { index } = await open(redis);
    await until(isReady(index));
    const filter = parsed({ n: { $gte: 0 } });
    const lists = Array.from({ length: limit + 22 }, () =>
      index.list({ principal: { id: 'owner' }, filter, skip: 450, limit: 100 }).then(({ ids }) => ids.length),
    );
    expect(await Promise.all(lists)).toEqual(lists.map(() => 100));
    const client = await connect(redis);
    const info = await client.sendCommand(['FT.INFO', documentIndex.name]);
    expect(info).toMatchObject({ cursor_stats: { index_total: 0 } });
  });
});
