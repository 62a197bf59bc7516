import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { remove, replaceContent } from '../../../../src/shared/documents/transitions.js';
import type { Index } from '../../../../src/shared/ports.js';
import { openIndexData, unit, type IndexData } from '../../../contracts/index-data.js';
import { makeContent, makeOperation } from '../../../support/documents.js';
import { startTestRedis, type TestRedis } from '../../../support/redis.js';
import { startRedisProxy, type RedisProxy } from '../../../support/redis-proxy.js';
import { until } from '../../../support/until.js';

const MAX_LENGTH = 15_360;
/** As many chunks as 32 pages hold, which is enough to be overtaken. */
const LONG = 4_096;
const X = [1, 0, 0, 0];

const many = (count: number) => Array.from({ length: count }, (_, i) => [1, i % 7, i % 11, i % 13]);

describe('while a long document is published, the exact index', () => {
  let redis: TestRedis;
  let proxy: RedisProxy;
  let data: IndexData;
  let index: Index;

  beforeAll(async () => {
    redis = await startTestRedis();
    proxy = await startRedisProxy(redis.port);
    data = await openIndexData(redis.url);
    index = await createExactIndex({ redisUrl: proxy.url });
  });
  beforeEach(async () => {
    await data.redis.flushAll();
    // An answer is from after the flush, of which the index need not know yet while it says that it is ready.
    await until(async () => (await list('alice').catch(() => null))?.length === 0);
    await until(async () => (await index.state()) === 'ready');
  });
  afterAll(async () => {
    await index.close();
    await proxy.close();
    data.redis.destroy();
    await redis.stop();
  });

  const search = (callerId: string, limit = 10) =>
    index.vectors.search({ vector: unit(X), principal: { id: callerId }, filter: null, limit });
  const list = async (callerId: string) =>
    (await index.list({ principal: { id: callerId }, filter: null, skip: 0, limit: 10 })).ids;
  const createFor = (readers: readonly string[]) =>
    data.create({ readers: [...readers], writers: [], admins: [] });
  const long = async (readers: readonly string[], chunks = LONG) => {
    const id = await createFor(readers);
    return { id, generation: await data.write(id, many(chunks)) };
  };
  const short = async (readers: readonly string[]) => {
    const id = await createFor(readers);
    await data.publish(id, [X]);
    return id;
  };

  test('answers those who cannot read it, and all lists, and its readers once they can find it', async () => {
    const mine = await short(['bob']);
    const { id, generation } = await long(['alice'], MAX_LENGTH);
    await search('bob');
    await data.publishWritten(id);
    const order: string[] = [];
    const asked = [
      search('alice', MAX_LENGTH).then((found) => {
        order.push('its reader searches');
        expect(found).toHaveLength(MAX_LENGTH);
        expect(new Set(found.map((each) => each.generation))).toEqual(new Set([generation]));
      }),
      search('bob').then((found) => {
        order.push('another searches');
        expect(found.map(({ documentId }) => documentId)).toEqual([mine]);
      }),
      list('bob').then((ids) => {
        order.push('another lists');
        expect(ids).toEqual([mine]);
      }),
      list('alice').then((ids) => {
        order.push('its reader lists');
        expect(ids).toEqual([id]);
      }),
    ];
    await Promise.all(asked);
    expect(order.at(-1)).toBe('its reader searches');
  });

  test('lets others search as often as they like, however many readers wait', async () => {
    await short(['bob']);
    const readers = Array.from({ length: 40 }, (_, n) => `reader-${String(n)}`);
    const { id } = await long(readers, MAX_LENGTH);
    await search('bob');
    await data.publishWritten(id);
    let isFound = false;
    const waiting = readers.map(async (reader) => {
      expect(await search(reader)).not.toEqual([]);
      isFound = true;
    });
    for (let i = 0; i < 3; i += 1)
      for (const found of await Promise.all([1, 2, 3].map(() => search('bob'))))
        expect(found).toHaveLength(1);
    expect(isFound).toBe(false);
    await Promise.all(waiting);
  });

  test('answers a caller who has just published something short', async () => {
    const ids: string[] = [];
    for (const reader of ['alice', 'carol', 'dora']) ids.push((await long([reader])).id);
    await search('bob');
    for (const id of ids) await data.publishWritten(id);
    const order: string[] = [];
    const waiting = ['alice', 'carol', 'dora'].map(async (reader) => {
      await search(reader);
      order.push(reader);
    });
    const mine = await short(['bob']);
    expect((await search('bob')).map(({ documentId }) => documentId)).toEqual([mine]);
    expect(order).toEqual([]);
    await Promise.all(waiting);
  });

  test('answers with the old content or with the new, and with the new once it is published', async () => {
    const id = await createFor(['alice']);
    const first = await data.publish(id, many(LONG));
    await search('alice');
    await data.step(id, (record) =>
      replaceContent(record, {
        content: makeContent({ storageKey: randomUUID() }),
        operation: makeOperation(),
      }),
    );
    const second = await data.write(id, many(LONG));
    const isPublished = { value: false };
    const publishing = data.publishWritten(id).then(() => (isPublished.value = true));
    for (let isLast = false; !isLast;) {
      isLast = isPublished.value;
      const found = await search('alice', LONG);
      const generations = [...new Set(found.map(({ generation }) => generation))];
      expect(found).toHaveLength(LONG);
      expect(isLast ? [[second]] : [[first], [second]]).toContainEqual(generations);
    }
    await publishing;
  });

  test('forgets it when it is deleted, and answers who waited for it', async () => {
    const { id } = await long(['alice']);
    const mine = await short(['alice']);
    await search('alice');
    await data.publishWritten(id);
    const waiting = search('alice', LONG);
    await data.step(id, remove);
    const found = await waiting;
    expect(found.map(({ documentId }) => documentId)).toContain(mine);
    expect((await search('alice')).map(({ documentId }) => documentId)).toEqual([mine]);
  });

  test('goes on after the connection has broken', async () => {
    const { id } = await long(['alice']);
    await search('alice');
    await data.publishWritten(id);
    const broken = search('alice', LONG).catch(() => null);
    await list('alice');
    proxy.moveTo(redis.port);
    await broken;
    await until(async () => (await search('alice', LONG).catch(() => [])).length === LONG);
  });
});
