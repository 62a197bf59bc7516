import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ListOrder } from '../../src/shared/documents/list-order.js';
import type { Index } from '../../src/shared/ports.js';
import { makeContent } from '../support/documents.js';
import { parsed, type IndexData } from './index-data.js';

const X = [1, 0, 0, 0];
/** More than any of these tests has documents. */
const ALL = 1_000;

type Listing = Partial<Parameters<Index['list']>[0]>;

/** The contract of the lists of every Index. */
export function testLists(open: () => { readonly index: Index; readonly data: IndexData }): void {
  const page = (request: Listing = {}) =>
    open().index.list({ principal: { id: 'owner' }, filter: null, skip: 0, limit: ALL, ...request });
  const list = async (request: Listing = {}) => (await page(request)).ids;

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
      await open().data.create({ id: id(last), pending: makeContent({ filename }), updatedAt: at(day) });
    const listed = async (order: ListOrder) => (await list({ order })).map((each) => Number(each.at(-1)));
    expect(await listed({ by: 'name', isDescending: false })).toEqual([4, 2, 1, 6, 5, 3]);
    expect(await listed({ by: 'name', isDescending: true })).toEqual([3, 5, 1, 6, 2, 4]);
    expect(await listed({ by: 'updated', isDescending: true })).toEqual([5, 6, 1, 3, 4, 2]);
    expect(await listed({ by: 'updated', isDescending: false })).toEqual([2, 3, 4, 1, 6, 5]);
    expect(await listed({ by: 'created', isDescending: false })).toEqual([1, 2, 3, 4, 5, 6]);
    await open().data.publish(id(3), [X]);
    await open().data.patch(id(3), { filename: 'aa.txt' });
    await open().data.patch(id(5), { filename: '0.txt' });
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
    for (const filename of names) ids.push(await open().data.create({ pending: makeContent({ filename }) }));
    const found = async (name: string) => {
      const listed = await list({ name });
      expect(await open().index.count({ principal: { id: 'owner' }, filter: null, name })).toBe(
        listed.length,
      );
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
              await open().data.remove(id);
              made.delete(id);
            } else {
              const at = `2026-01-0${String(day)}T00:00:00.000Z`;
              const pending = makeContent({ filename: name });
              made.add(await open().data.create({ createdAt: at, updatedAt: at, pending, metadata }));
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
          for (const id of made) await open().data.remove(id);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('a place from which much has gone is found again', async () => {
    const day = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
    const ids: string[] = [];
    for (let n = 0; n < 60; n += 1) ids.push(await open().data.create({ createdAt: day(n) }));
    const { next } = await page({ limit: 50 });
    expect(next?.rank).toBe(50);
    for (const id of ids.slice(15)) await open().data.remove(id);
    expect(await list({ after: next })).toEqual(ids.slice(0, 10).reverse());
    for (let n = 100; n < 200; n += 1) await open().data.create({ createdAt: day(n) });
    expect(await list({ after: next, skip: 2, limit: 3 })).toEqual(ids.slice(5, 8).reverse());
  });
}
