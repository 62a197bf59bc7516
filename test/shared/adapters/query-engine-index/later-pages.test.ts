import { afterEach, expect, test } from '@jest/globals';
import { keys } from '../../../../src/shared/redis/keys.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import type { ListPosition } from '../../../../src/shared/documents/list-order.js';
import { makeDocument } from '../../../support/documents.js';
import { createQueryEngineBench, isReady } from '../../../support/query-engine-bench.js';
import { describeWithQueryEngine } from '../../../support/query-engine.js';
import { until } from '../../../support/until.js';

describeWithQueryEngine('the next page of a Query Engine list', (engine) => {
  const { start, connect, open, closeAll } = createQueryEngineBench(engine);
  afterEach(closeAll);

  /** Opens an index over as many documents as there are days. `page` tells how many requests a page of one document takes. */
  async function opened() {
    const redis = await start({ server: ['--appendonly', 'no'] });
    const client = await connect(redis);
    const records = createRecords(client);
    const { index } = await open(redis);
    await until(isReady(index));
    const asked = async () =>
      Number(/cmdstat_ft\.aggregate:calls=(\d+)/i.exec(await client.info('commandstats'))?.[1] ?? 0);
    return {
      client,
      records,
      fill: async (first: number, last: number) => {
        const days = Array.from({ length: last - first }, (_, i) => new Date(Date.UTC(2020, 0, first + i)));
        const made = days.map((day) => makeDocument({ createdAt: day.toISOString() }));
        for (const each of made) await records.create(each);
        return made.map(({ id }) => id);
      },
      page: async (after: ListPosition | null) => {
        const before = await asked();
        const listed = await index.list({
          principal: { id: 'owner' },
          filter: null,
          skip: 0,
          limit: 1,
          after,
        });
        return { ...listed, requests: (await asked()) - before };
      },
    };
  }

  test('is found by few requests where much has come before it, and each page after it by one', async () => {
    const { fill, page } = await opened();
    const ids = await fill(0, 5);
    const first = await page(null);
    expect(first.ids).toEqual([ids[4]]);
    await fill(5, 400);
    const second = await page(first.next);
    expect(second.ids).toEqual([ids[3]]);
    expect(second.requests).toBeLessThan(10);
    const third = await page(second.next);
    expect(third).toMatchObject({ ids: [ids[2]], requests: 1 });
    expect(await page(third.next)).toMatchObject({ ids: [ids[1]], requests: 1 });
  });

  test('is found by few requests where much of what was before it has gone, and each page after it by one', async () => {
    const { records, fill, page } = await opened();
    const ids = await fill(0, 400);
    let next: ListPosition | null = {
      id: ids[4] ?? '',
      value: new Date(Date.UTC(2020, 0, 4)).toISOString(),
      rank: 396,
    };
    for (const id of ids.slice(10)) await records.update(id, () => ({ removed: true }));
    const found = await page(next);
    expect(found.ids).toEqual([ids[3]]);
    expect(found.requests).toBeLessThan(10);
    next = found.next;
    expect(await page(next)).toMatchObject({ ids: [ids[2]], requests: 1 });
  });

  test('is there although documents before it are gone when the engine reads them', async () => {
    const { client, fill, page } = await opened();
    const ids = await fill(0, 8);
    // The engine answers for them as for documents that are deleted between its search and its reading.
    for (const id of ids.slice(3, 7)) await client.hDel(keys.document(id), 'id');
    const first = await page(null);
    expect(first.ids).toEqual([ids[7]]);
    const second = await page(first.next);
    expect(second.ids).toEqual([ids[2]]);
    const third = await page(second.next);
    expect(third.ids).toEqual([ids[1]]);
    expect(await page(third.next)).toMatchObject({ ids: [ids[0]], next: null });
  });
});
