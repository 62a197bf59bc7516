import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UnavailableError } from '../../src/shared/errors.js';
import type { Filter } from '../../src/shared/filters/parse.js';
import type { Index, VectorSearch } from '../../src/shared/ports.js';
import { testLists } from './list-contract.js';
import { testOwners } from './owner-contract.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { rejection } from '../support/rejection.js';
import { until } from '../support/until.js';
import { openIndexData, parsed, unit, type IndexData } from './index-data.js';
import { expectGivenUpWhileHung } from './index-hang.js';
import { CALLERS, createIndexModel, crowdOf, question, step } from './index-model.js';

const X = [1, 0, 0, 0];
const Y = [0, 1, 0, 0];
const Z = [0, 0, 1, 0];
/** More than any of these tests has chunks or documents. */
const ALL = 1_000;

/** The contract of every Index. */
export function describeIndexContract(
  name: string,
  makeIndex: (redisUrl: string) => Promise<Index>,
  startRedis: () => Promise<TestRedis> = startTestRedis,
): void {
  describe(`${name} as index`, () => {
    let redis: TestRedis;
    let index: Index;
    let data: IndexData;

    beforeAll(async () => {
      redis = await startRedis();
      index = await makeIndex(redis.url);
      data = await openIndexData(redis.url);
      await until(async () => (await index.state()) === 'ready');
    });
    beforeEach(async () => {
      for (const caller of CALLERS) {
        for (const id of await list({ principal: { id: caller } })) await data.remove(id);
      }
    });
    afterAll(async () => {
      await index.close();
      data.redis.destroy();
      await redis.stop();
    });

    const search = (vector: readonly number[], request: Partial<VectorSearch> = {}) =>
      index.vectors.search({
        vector: unit(vector),
        principal: { id: 'owner' },
        filter: null,
        limit: ALL,
        ...request,
      });
    const list = async (request: Partial<Parameters<Index['list']>[0]> = {}) =>
      (await index.list({ principal: { id: 'owner' }, filter: null, skip: 0, limit: ALL, ...request })).ids;
    const count = (callerId = 'owner', filter: Filter | null = null) =>
      index.count({ principal: { id: callerId }, filter });
    /** A document with these vectors, published. */
    const ingest = async (
      vectors: readonly (readonly number[])[],
      changes: Parameters<IndexData['create']>[0] = {},
    ) => {
      const id = await data.create(changes);
      const generation = await data.publish(id, vectors);
      return { id, generation };
    };

    test('finds the chunks of published documents, most similar first', async () => {
      const { id, generation } = await ingest([X, [1, 1, 0, 0], Y]);
      const found = await search(X, { limit: 2 });
      expect(found.map(({ documentId, number }) => [documentId, number])).toEqual([
        [id, 0],
        [id, 1],
      ]);
      expect(found.map(({ score }) => score)).toEqual([
        expect.closeTo(1, 5),
        expect.closeTo(Math.SQRT1_2, 5),
      ]);
      expect(found.map(({ generation: from }) => from)).toEqual([generation, generation]);
    });

    test('lists a document before it is published, and finds nothing of it', async () => {
      const id = await data.create();
      expect(await list()).toEqual([id]);
      expect(await search(X)).toEqual([]);
    });

    test('sees every publish, new content, change and deletion that came before the call', async () => {
      const { id } = await ingest([X], { metadata: { colour: 'red' } });
      expect(await search(X)).toHaveLength(1);

      const generation = await data.replace(id, [Y, Z]);
      const found = await search(Y);
      expect(found.map(({ generation: from, number }) => [from, number])).toEqual([
        [generation, 0],
        [generation, 1],
      ]);

      const blue = parsed({ colour: 'blue' });
      expect(await count('owner', blue)).toBe(0);
      await data.patch(id, { metadata: { colour: 'blue' } });
      expect(await count('owner', blue)).toBe(1);
      expect(await search(Y, { filter: blue })).toHaveLength(2);

      await data.remove(id);
      expect(await search(Y)).toEqual([]);
      expect(await list()).toEqual([]);
    });

    test('a grant lets a caller in and a revocation shuts them out', async () => {
      const { id } = await ingest([X]);
      expect(await search(X, { principal: { id: 'alice' } })).toEqual([]);
      await data.patch(id, { readers: ['owner', 'alice'] });
      expect(await search(X, { principal: { id: 'alice' } })).toHaveLength(1);
      expect(await list({ principal: { id: 'alice' } })).toEqual([id]);
      await data.patch(id, { readers: ['owner'] });
      expect(await list({ principal: { id: 'alice' } })).toEqual([]);
      expect(await count('alice')).toBe(0);
      await data.patch(id, { readers: [], writers: ['alice'], admins: ['bob'] });
      expect([await count('owner'), await count('alice'), await count('bob')]).toEqual([0, 1, 1]);
    });

    test('gives each caller as many chunks as asked for, also where others have better ones', async () => {
      for (let i = 0; i < 5; i += 1) await ingest([X, X, X, X]);
      const { id } = await ingest([Y, Z], { ownerId: 'alice' });
      const found = await search(X, { principal: { id: 'alice' }, limit: 2 });
      expect(found.map(({ documentId }) => documentId)).toEqual([id, id]);
    });

    testOwners(() => ({ index, data }));

    test('a page beyond the last is empty, however far beyond', async () => {
      await ingest([X]);
      const far = [
        2,
        10_000,
        1_000_000,
        10_000_000,
        2 ** 31,
        2 ** 32 + 1,
        Number.MAX_SAFE_INTEGER,
        2 ** 53,
        1e21,
      ];
      const some = parsed({ created_at: { $gt: '2020-01-01' } });
      for (const skip of far) {
        for (const filter of [null, some]) {
          expect(await list({ skip, limit: 100, filter })).toEqual([]);
        }
      }
      expect(await list({ skip: 0, limit: 100 })).toHaveLength(1);
    });

    test('lists newest first, ties by id, in pages', async () => {
      const at = (day: number) => `2026-01-0${String(day)}T00:00:00.000Z`;
      const id = (last: number) => `00000000-0000-4000-8000-00000000000${String(last)}`;
      for (const [last, day] of [
        [3, 2],
        [1, 2],
        [4, 1],
        [2, 2],
        [5, 3],
      ] as const) {
        await data.create({ id: id(last), createdAt: at(day) });
      }
      const expected = [5, 1, 2, 3, 4].map(id);
      expect(await list()).toEqual(expected);
      expect(await list({ skip: 1, limit: 2 })).toEqual(expected.slice(1, 3));
      expect(await list({ skip: 5, limit: 2 })).toEqual([]);
      await data.remove(id(1));
      expect(await list({ skip: 1, limit: 2 })).toEqual([id(2), id(3)]);
    });

    testLists(() => ({ index, data }));

    test('while a document is published anew, an answer is whole: of the old content or of the new', async () => {
      const { id } = await ingest([X, X, X]);
      const served = async () => (await data.current(id)).published?.generation;
      const done = new AbortController();
      const replacing = (async () => {
        for (let i = 0; i < 20; i += 1) await data.replace(id, [X, X, X]);
      })().finally(() => {
        done.abort();
      });
      while (!done.signal.aborted) {
        const before = await served();
        const found = await search(X);
        const after = await served();
        // A generation that is published during the search may or may not be in it; the check above the index asks again.
        if (before !== after) continue;
        const current = found.filter(({ generation }) => generation === after);
        expect(current.map(({ number }) => number).sort()).toEqual([0, 1, 2]);
      }
      await replacing;
    });

    test('a caller finds what they may read throughout, however many others may, and while that changes', async () => {
      const { id } = await ingest([X, Y], { readers: ['owner', 'alice'] });
      const sizes = [40, 3, 14, 15, 200, 16, 0];
      const changes = Array.from({ length: 21 }, (_, i) => [
        'alice',
        ...crowdOf(sizes[i % sizes.length] ?? 0),
      ]);
      const done = new AbortController();
      const changing = (async () => {
        for (const readers of changes) {
          await data.patch(id, { readers });
          expect(await list({ principal: { id: 'alice' } })).toEqual([id]);
        }
      })().finally(() => {
        done.abort();
      });
      while (!done.signal.aborted) {
        const found = await search(X, { principal: { id: 'alice' } });
        expect(found.map(({ number }) => number).sort()).toEqual([0, 1]);
        expect(await count('alice')).toBe(1);
        expect(await list({ principal: { id: 'bob' } })).toEqual([]);
      }
      await changing;
      await data.patch(id, { readers: crowdOf(100) });
      expect([await count('user-99'), await count('user-100'), await count('alice')]).toEqual([1, 0, 0]);
      expect(await search(X, { principal: { id: 'user-99' } })).toHaveLength(2);
      expect(await search(X, { principal: { id: 'user-100' } })).toEqual([]);
    });

    test('answers as a plain scan over the records does, whatever the documents, callers and filters', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), question, async (steps, asked) => {
          const model = createIndexModel(data);
          try {
            for (const each of steps) await model.apply(each);
            await model.compare(index, asked);
          } finally {
            await model.clear();
          }
        }),
        { numRuns: 40 },
      );
    });

    test('rejects with the reason of the signal that aborts it', async () => {
      await ingest([X]);
      const reason = new Error('the client went away');
      expect(await rejection(search(X, { signal: AbortSignal.abort(reason) }))).toBe(reason);
      const controller = new AbortController();
      const running = rejection(search(X, { signal: controller.signal }));
      controller.abort(reason);
      expect(await running).toBe(reason);
      expect(await search(X)).toHaveLength(1);
    });

    test('whatever is asked of it is given up in time while Redis hangs, and answered again afterwards', async () => {
      await ingest([X]);
      await expectGivenUpWhileHung(index, { pid: redis.pid, vector: unit(X) });
      expect(await search(X)).toHaveLength(1);
    });

    test('is unavailable while Redis is down, and whole again once it is back', async () => {
      await ingest([X]);
      expect(await search(X)).toHaveLength(1);
      await redis.crash();
      for (const ask of [() => search(X), () => list(), () => count()])
        expect(await rejection(ask())).toBeInstanceOf(UnavailableError);
      await redis.start();
      await until(async () => data.redis.isReady && (await search(X).catch(() => [])).length === 1);
      await ingest([Y]);
      expect(await search(X)).toHaveLength(2);
    });
  });
}
