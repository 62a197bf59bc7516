import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import type { Candidate, Index } from '../../../../src/shared/ports.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { describeIndexContract } from '../../../contracts/index-contract.js';
import { innerProduct, openIndexData, parsed, unit, type IndexData } from '../../../contracts/index-data.js';
import { startTestRedis, type TestRedis } from '../../../support/redis.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

describeIndexContract('exact', (redisUrl) => createExactIndex({ redisUrl }));

describe('the exact index', () => {
  const X = [1, 0, 0];
  let redis: TestRedis;
  let data: IndexData;
  let index: Index;
  let problems: { message: string; fields: Readonly<Record<string, unknown>> }[];

  const open = () =>
    createExactIndex({
      redisUrl: redis.url,
      onProblem: (message, fields) => problems.push({ message, fields }),
    });
  const search = (vector: Float32Array, limit = 10) =>
    index.vectors.search({ vector, principal: { id: 'owner' }, filter: null, limit });
  const ingest = async (vectors: readonly (readonly number[])[]) => {
    const id = await data.create();
    return { id, generation: await data.publish(id, vectors) };
  };
  /** As if a step had changed one field of a record. */
  const rewrite = async (id: string, field: string, value: string) => {
    const sequence = Number(await data.redis.get(keys.sequence)) + 1;
    await data.redis
      .multi()
      .hSet(keys.document(id), field, value)
      .incr(keys.sequence)
      .zAdd(keys.changes, { value: id, score: sequence })
      .exec();
  };
  const addressOf = ({ documentId, number }: Candidate) => `${documentId}:${String(number)}`;
  const untilReady = () => until(async () => (await index.state()) === 'ready');
  /** It may say that it is ready until it sees that the data are others. */
  const untilEmptied = () =>
    until(async () => {
      const count = await index.count({ principal: { id: 'owner' }, filter: null }).catch(() => null);
      return count === 0;
    });

  beforeAll(async () => {
    redis = await startTestRedis();
    data = await openIndexData(redis.url);
    problems = [];
    index = await open();
  });
  beforeEach(async () => {
    await data.redis.flushAll();
    problems = [];
    await untilEmptied();
  });
  afterAll(async () => {
    await index.close();
    data.redis.destroy();
    await redis.stop();
  });

  test('is unavailable while it loads, and ready with everything that was there', async () => {
    await ingest([X, X]);
    await index.close();
    index = await open();
    expect(await index.state()).toBe('loading');
    expect(await rejection(search(unit(X)))).toBeInstanceOf(UnavailableError);
    await untilReady();
    expect(await search(unit(X))).toHaveLength(2);
  });

  test('is unavailable once it is closed', async () => {
    const other = await open();
    await other.close();
    expect(
      await rejection(other.list({ principal: { id: 'owner' }, filter: null, skip: 0, limit: 1 })),
    ).toBeInstanceOf(UnavailableError);
  });

  test('finds exactly the best of many for dense and sparse queries, over blocks, segments and used slots', async () => {
    const random = () => Array.from({ length: 64 }, () => Math.random() - 0.5);
    const chunks = new Map<string, Float32Array>();
    const fill = async (size: number) => {
      const vectors = Array.from({ length: size }, random);
      const { id } = await ingest(vectors);
      for (const [number, vector] of vectors.entries()) chunks.set(`${id}:${String(number)}`, unit(vector));
      return id;
    };
    const first = await fill(3_000);
    await fill(3_000);
    await search(unit(random()));
    await data.remove(first);
    for (const address of chunks.keys()) if (address.startsWith(first)) chunks.delete(address);
    for (let i = 0; i < 5; i += 1) await fill(3_000);

    for (const nonzero of [64, 3]) {
      const query = unit(random().map((value, i) => (i < nonzero ? value : 0)));
      const best = [...chunks]
        .map(([address, vector]) => ({ address, similarity: innerProduct(query, vector) }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, 50);
      const found = await search(query, 50);
      expect(found.map(addressOf)).toEqual(best.map(({ address }) => address));
      for (const [i, { score }] of found.entries()) {
        expect(score).toBeCloseTo(best[i]?.similarity ?? NaN, 5);
      }
    }
  });

  test('orders and cuts ties by document, then chunk', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    for (const id of ids) {
      await data.create({ id });
      await data.publish(id, [X, X, X]);
    }
    const expected = ids.sort().flatMap((id) => [0, 1, 2].map((number) => `${id}:${String(number)}`));
    for (const query of [X, [0, 1, 0]]) {
      for (const limit of [2, 50, 1_000]) {
        const found = await search(unit(query), limit);
        expect(found.map(addressOf)).toEqual(expected.slice(0, limit));
      }
    }
  });

  test('a document with a lost chunk is left out and reported, all others are found', async () => {
    const { id, generation } = await ingest([X]);
    const { id: other } = await ingest([X]);
    await data.redis.del(keys.chunk(generation, 0));
    await index.close();
    index = await open();
    await untilReady();
    expect((await search(unit(X))).map(({ documentId }) => documentId)).toEqual([other]);
    expect(await index.count({ principal: { id: 'owner' }, filter: null })).toBe(2);
    expect(problems).toEqual([
      { message: expect.stringContaining('missing'), fields: { level: 'error', documentId: id, generation } },
    ]);
  });

  test('a document whose vectors have another length is left out and reported', async () => {
    await ingest([X]);
    await search(unit(X));
    const { id } = await ingest([[1, 0, 0, 0]]);
    expect(await search(unit(X))).toHaveLength(1);
    expect(problems).toEqual([
      { message: expect.stringContaining('length'), fields: expect.objectContaining({ documentId: id }) },
    ]);
  });

  test('a malformed record is left out and reported, all others are found', async () => {
    const { id } = await ingest([X]);
    await ingest([X]);
    for (const [field, value] of [
      ['readers', '"everyone"'],
      ['published', '{"generation":1}'],
      ['metadata', 'not JSON'],
    ] as const) {
      problems = [];
      const before = await data.redis.hGet(keys.document(id), field);
      await rewrite(id, field, value);
      expect(await search(unit(X))).toHaveLength(1);
      expect(problems).toEqual([
        {
          message: expect.stringContaining('malformed'),
          fields: expect.objectContaining({ documentId: id }),
        },
      ]);
      await rewrite(id, field, before ?? '');
      expect(await search(unit(X))).toHaveLength(2);
    }
  });

  test('reads documents whole that are larger than one reply', async () => {
    const vectors = Array.from({ length: 702 }, (_, i) => Array.from({ length: 1_024 }, (__, j) => i + j));
    const { id } = await ingest(vectors);
    const text = 'x'.repeat(300_000);
    for (let i = 0; i < 5; i += 1) await data.create({ metadata: { text, number: i } });
    await index.close();
    index = await open();
    await untilReady();
    const found = await search(unit(Array.from({ length: 1_024 }, () => 1)), 1_000);
    expect(new Set(found.map(addressOf)).size).toBe(702);
    expect(new Set(found.map(({ documentId }) => documentId))).toEqual(new Set([id]));
    expect(await index.count({ principal: { id: 'owner' }, filter: parsed({ number: { $gte: 2 } }) })).toBe(
      3,
    );
    expect(problems).toEqual([]);
  });

  test('a query of another length than the vectors is an error, not an empty answer', async () => {
    await ingest([X]);
    await expect(search(unit([1, 0]))).rejects.toThrow('2 dimensions');
  });

  test('vectors of another length are taken once none of the old ones are left', async () => {
    const { id } = await ingest([X]);
    await search(unit(X));
    await data.remove(id);
    await ingest([[1, 0, 0, 0]]);
    expect(await search(unit([1, 0, 0, 0]))).toHaveLength(1);
  });

  test('an emptied Redis empties it, and so does another data set with as many changes', async () => {
    await ingest([X]);
    expect(await search(unit(X))).toHaveLength(1);
    await data.redis.flushAll();
    expect(await search(unit(X))).toEqual([]);

    const { id } = await ingest([X]);
    await search(unit(X));
    const [record, sequence] = [
      await data.redis.dump(keys.document(id)),
      await data.redis.get(keys.sequence),
    ];
    expect(record).not.toBeNull();
    await data.redis
      .multi()
      .flushAll()
      .set(keys.epoch, 'another')
      .set(keys.sequence, sequence ?? '')
      .exec();
    expect(await search(unit(X))).toEqual([]);
  });

  test('a Redis that comes back with older data is read anew', async () => {
    const { id } = await ingest([X]);
    const { generation } = await ingest([X]);
    await search(unit(X));
    // As if the last changes had been lost, and others made since: the sequence tells nothing.
    await data.redis.del([keys.document(id), keys.chunk(generation, 0)]);
    await data.redis.zRem(keys.changes, id);
    expect(await search(unit(X))).toHaveLength(2);
    await redis.crash();
    await redis.start();
    await until(async () => (await search(unit(X)).catch(() => null))?.length === 0);
  });

  test('changes of many documents reach the answers of a caller who has asked before', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 50; i += 1) ids.push((await ingest([X])).id);
    expect(await search(unit(X), 100)).toHaveLength(50);
    for (const id of ids.slice(0, 25)) await data.remove(id);
    for (const id of ids.slice(25, 35)) await data.patch(id, { readers: ['alice'], writers: ['alice'] });
    for (let i = 0; i < 30; i += 1) await ingest([X, X]);
    expect(await search(unit(X), 100)).toHaveLength(25 + 60);
    expect(await index.count({ principal: { id: 'owner' }, filter: null })).toBe(25 + 30);
  });
});
