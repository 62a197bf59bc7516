import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UnavailableError } from '../../src/shared/errors.js';
import type { Filter } from '../../src/shared/filters/parse.js';
import type { Index, VectorSearch } from '../../src/shared/ports.js';
import type { ListOrder } from '../../src/shared/documents/list-order.js';
import { makeContent } from '../support/documents.js';
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

/** What every Index must do. */
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
        for (const id of await list({ callerId: caller })) await data.remove(id);
      }
    });
    afterAll(async () => {
      await index.close();
      data.redis.destroy();
      await redis.stop();
    });

    const search = (vector: readonly number[], request: Partial<VectorSearch> = {}) =>
      index.vectors.search({ vector: unit(vector), callerId: 'owner', filter: null, limit: ALL, ...request });
    const page = (request: Partial<Parameters<Index['list']>[0]> = {}) =>
      index.list({ callerId: 'owner', filter: null, skip: 0, limit: ALL, ...request });
    const list = async (request: Partial<Parameters<Index['list']>[0]> = {}) => (await page(request)).ids;
    const count = (callerId = 'owner', filter: Filter | null = null) => index.count({ callerId, filter });
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
      expect(await search(X, { callerId: 'alice' })).toEqual([]);
      await data.patch(id, { readers: ['owner', 'alice'] });
      expect(await search(X, { callerId: 'alice' })).toHaveLength(1);
      expect(await list({ callerId: 'alice' })).toEqual([id]);
      await data.patch(id, { readers: ['owner'] });
      expect(await list({ callerId: 'alice' })).toEqual([]);
      expect(await count('alice')).toBe(0);
      await data.patch(id, { readers: [], writers: ['alice'], admins: ['bob'] });
      expect([await count('owner'), await count('alice'), await count('bob')]).toEqual([0, 1, 1]);
    });

    test('gives each caller as many chunks as asked for, also where others have better ones', async () => {
      for (let i = 0; i < 5; i += 1) await ingest([X, X, X, X]);
      const { id } = await ingest([Y, Z], { ownerId: 'alice' });
      const found = await search(X, { callerId: 'alice', limit: 2 });
      expect(found.map(({ documentId }) => documentId)).toEqual([id, id]);
    });

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

    test('lists in each order, ties by id, whatever the content was published', async () => {
      const id = (last: number) => `00000000-0000-4000-8000-00000000000${String(last)}`;
      const at = (day: number) => `2026-01-0${String(day)}T00:00:00.000Z`;
      const named = [
        [1, 'b.txt', 3],
        [2, 'Ärger.txt', 1],
        [3, null, 2],
        [4, 'a.txt', 2],
        [5, 'zebra.txt', 5],
        [6, 'B.TXT', 4],
      ] as const;
      for (const [last, filename, day] of named)
        await data.create({ id: id(last), pending: makeContent({ filename }), updatedAt: at(day) });
      const listed = async (order: ListOrder) => (await list({ order })).map((each) => Number(each.at(-1)));
      expect(await listed({ by: 'name', isDescending: false })).toEqual([4, 2, 1, 6, 5, 3]);
      expect(await listed({ by: 'name', isDescending: true })).toEqual([3, 5, 1, 6, 2, 4]);
      expect(await listed({ by: 'updated', isDescending: true })).toEqual([5, 6, 1, 3, 4, 2]);
      expect(await listed({ by: 'updated', isDescending: false })).toEqual([2, 3, 4, 1, 6, 5]);
      expect(await listed({ by: 'created', isDescending: false })).toEqual([1, 2, 3, 4, 5, 6]);
      await data.publish(id(3), [X]);
      await data.patch(id(3), { filename: 'aa.txt' });
      await data.patch(id(5), { filename: '0.txt' });
      expect(await listed({ by: 'name', isDescending: false })).toEqual([5, 4, 3, 2, 1, 6]);
      const byUpdate = await listed({ by: 'updated', isDescending: true });
      expect([byUpdate.slice(0, 2).sort(), byUpdate.slice(2)]).toEqual([
        [3, 5],
        [6, 1, 4, 2],
      ]);
    });

    test('lists and counts documents by the words of their names, without case and accents', async () => {
      const names = ['Zürich Budget_2024.pdf', 'zurich.txt'.normalize('NFD'), 'STRASSE budget.doc', null];
      const ids: string[] = [];
      for (const filename of names) ids.push(await data.create({ pending: makeContent({ filename }) }));
      const found = async (name: string) => {
        const listed = await list({ name });
        expect(await index.count({ callerId: 'owner', filter: null, name })).toBe(listed.length);
        expect((await list({ name, skip: 1 })).length).toBe(Math.max(0, listed.length - 1));
        return listed.map((each) => ids.indexOf(each)).sort();
      };
      expect(await found('ZÜRICH'.normalize('NFD'))).toEqual([0, 1]);
      expect(await found('budget')).toEqual([0, 2]);
      expect(await found('2024 zur')).toEqual([0]);
      expect(await found('straße')).toEqual([2]);
      expect(await found('nothing')).toEqual([]);
    });

    test('goes on after a place: what stays is neither repeated nor left out, whatever comes and goes', async () => {
      const change = fc.record({
        type: fc.constantFrom('create', 'create', 'remove', 'remove'),
        target: fc.nat(100),
        day: fc.integer({ min: 1, max: 5 }),
        name: fc.constantFrom('a.txt', 'B.txt', 'ä.txt', null),
      });
      const order = fc.record({
        by: fc.constantFrom('created' as const, 'updated' as const, 'name' as const),
        isDescending: fc.boolean(),
      });
      const some = fc.array(change, { minLength: 1, maxLength: 8 });
      const metadata = { colour: 'red' };
      await fc.assert(
        fc.asyncProperty(
          some,
          fc.array(some, { maxLength: 4 }),
          order,
          fc.integer({ min: 1, max: 3 }),
          async (first, later, by, limit) => {
            const made = new Set<string>();
            const apply = async ({ type, target, day, name }: (typeof first)[number]) => {
              const id = [...made][target % Math.max(made.size, 1)];
              if (type === 'remove' && id !== undefined) {
                await data.remove(id);
                made.delete(id);
              } else {
                const at = `2026-01-0${String(day)}T00:00:00.000Z`;
                const pending = makeContent({ filename: name });
                made.add(await data.create({ createdAt: at, updatedAt: at, pending, metadata }));
              }
            };
            for (const each of first) await apply(each);
            const before = new Set(made);
            const seen: string[] = [];
            const filter = limit === 2 ? parsed({ $not: { colour: { $gt: 5 } } }) : null;
            const request = {
              order: by,
              limit,
              name: limit === 3 ? 'txt' : null,
              filter,
            };
            const everything = await list({ ...request, limit: ALL });
            let { ids, next } = await page(request);
            seen.push(...ids);
            for (let round = 0; next; round += 1) {
              for (const each of later[round] ?? []) await apply(each);
              ({ ids, next } = await page({ ...request, after: next }));
              seen.push(...ids);
            }
            const stayed = everything.filter((id) => before.has(id) && made.has(id));
            expect(new Set(seen).size).toBe(seen.length);
            expect(seen.filter((id) => stayed.includes(id))).toEqual(stayed);
            for (const id of made) await data.remove(id);
          },
        ),
        { numRuns: 30 },
      );
    });

    test('a place from which much has gone is found again', async () => {
      const day = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
      const ids: string[] = [];
      for (let n = 0; n < 60; n += 1) ids.push(await data.create({ createdAt: day(n) }));
      const { next } = await page({ limit: 50 });
      expect(next?.rank).toBe(50);
      for (const id of ids.slice(15)) await data.remove(id);
      expect(await list({ after: next })).toEqual(ids.slice(0, 10).reverse());
      for (let n = 100; n < 200; n += 1) await data.create({ createdAt: day(n) });
      expect(await list({ after: next, skip: 2, limit: 3 })).toEqual(ids.slice(5, 8).reverse());
    });

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
        // What is published during the search may or may not be in it; the check above the index asks again.
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
          expect(await list({ callerId: 'alice' })).toEqual([id]);
        }
      })().finally(() => {
        done.abort();
      });
      while (!done.signal.aborted) {
        const found = await search(X, { callerId: 'alice' });
        expect(found.map(({ number }) => number).sort()).toEqual([0, 1]);
        expect(await count('alice')).toBe(1);
        expect(await list({ callerId: 'bob' })).toEqual([]);
      }
      await changing;
      await data.patch(id, { readers: crowdOf(100) });
      expect([await count('user-99'), await count('user-100'), await count('alice')]).toEqual([1, 0, 0]);
      expect(await search(X, { callerId: 'user-99' })).toHaveLength(2);
      expect(await search(X, { callerId: 'user-100' })).toEqual([]);
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
