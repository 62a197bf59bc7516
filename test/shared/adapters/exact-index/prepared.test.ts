import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { cancel, remove, replaceContent, requeue } from '../../../../src/shared/documents/transitions.js';
import { createMirrorPreparation } from '../../../../src/shared/mirror-preparation/mirror-preparation.js';
import type { Index } from '../../../../src/shared/ports.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { openIndexData, unit, type IndexData } from '../../../contracts/index-data.js';
import { makeContent, makeOperation } from '../../../support/documents.js';
import { startTestRedis, type TestRedis } from '../../../support/redis.js';
import { until } from '../../../support/until.js';

/** The number of chunks of a document that a worker prepares, which it does from a thousand chunks on. */
const LONG = 1_024;
const X = [1, 0, 0];
const many = (count: number) => Array.from({ length: count }, (_, i) => [1, i % 7, i % 11]);

describe('a generation that is prepared before it is published', () => {
  let redis: TestRedis;
  let data: IndexData;
  let index: Index;
  let problems: unknown[] = [];

  const open = async () => {
    const opened = await createExactIndex({
      redisUrl: redis.url,
      onProblem: (message, fields) => problems.push({ message, fields }),
    });
    await until(async () => (await opened.state()) === 'ready');
    return opened;
  };
  beforeAll(async () => {
    redis = await startTestRedis();
    data = await openIndexData(redis.url);
  });
  beforeEach(async () => {
    problems = [];
    await data.redis.flushAll();
    index = await open();
  });
  afterAll(async () => {
    data.redis.destroy();
    await redis.stop();
  });

  const search = (vector: readonly number[] = X, limit = LONG) =>
    index.vectors.search({ vector: unit(vector), principal: { id: 'owner' }, filter: null, limit });
  const alive = () => data.redis.zRange(keys.mirrors, 0, -1);
  const isAlive = async () => (await alive()).length > 0;
  /** A long document, prepared in all mirrors. */
  const prepared = async () => {
    await until(isAlive);
    const id = await data.create();
    const generation = await data.write(id, many(LONG));
    const mirrors = createMirrorPreparation(data.redis);
    expect(await mirrors.open(generation)).toBe(true);
    await data.prepare(id);
    await until(async () => !(await mirrors.areLoading(generation)));
    return { id, generation };
  };
  const hashesRead = async (): Promise<number> => {
    const stats = await data.redis.info('commandstats');
    return Number(/cmdstat_hmget:calls=(\d+)/.exec(stats)?.[1] ?? '0');
  };

  test('is not found before, and is found without another chunk being read', async () => {
    try {
      const { id } = await prepared();
      expect(await search()).toEqual([]);
      const before = await hashesRead();
      await data.publishWritten(id);
      expect(await search()).toHaveLength(LONG);
      expect((await hashesRead()) - before).toBeLessThan(100);
    } finally {
      await index.close();
    }
  });

  test('is prepared by a mirror that starts in the middle, too', async () => {
    const { id, generation } = await prepared();
    await index.close();
    const [ended = ''] = await alive();
    const mirrors = createMirrorPreparation(data.redis);
    await mirrors.open(generation);
    index = await open();
    try {
      await until(async () => (await alive()).some((mirror) => mirror !== ended));
      await until(async () => !(await mirrors.areLoading(generation)));
      const before = await hashesRead();
      await data.publishWritten(id);
      expect(await search()).toHaveLength(LONG);
      expect((await hashesRead()) - before).toBeLessThan(100);
    } finally {
      await index.close();
    }
  });

  test.each([
    ['deleted', remove],
    ['cancelled', cancel],
    ['started anew', requeue],
    [
      'replaced',
      (record: Parameters<typeof replaceContent>[0]) =>
        replaceContent(record, { content: makeContent({ storageKey: 'a/2' }), operation: makeOperation() }),
    ],
  ] as const)('leaves nothing in memory when its document is %s', async (_name, transition) => {
    try {
      const { id } = await prepared();
      await data.step(id, transition);
      // The index takes vectors of another length only when it holds none.
      const other = await data.create();
      await data.publish(other, [[1, 0, 0, 0]]);
      expect((await search([1, 0, 0, 0])).map(({ documentId }) => documentId)).toEqual([other]);
      expect(problems).toEqual([]);
    } finally {
      await index.close();
    }
  });

  test('keeps nobody waiting when a chunk of it is lost, which is reported once it is published', async () => {
    try {
      await until(isAlive);
      const id = await data.create();
      const generation = await data.write(id, many(LONG));
      await data.redis.del(keys.chunk(generation, LONG - 1));
      const mirrors = createMirrorPreparation(data.redis);
      await mirrors.open(generation);
      await data.prepare(id);
      await until(async () => !(await mirrors.areLoading(generation)));
      expect(problems).toEqual([]);
      await data.publishWritten(id);
      expect(await search()).toEqual([]);
      expect(problems).toEqual([
        {
          message: expect.stringContaining('missing'),
          fields: { level: 'error', documentId: id, generation },
        },
      ]);
    } finally {
      await index.close();
    }
  });
});
