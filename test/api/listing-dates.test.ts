import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { longestTurnOf } from '../support/turns.js';
import { until } from '../support/until.js';

const DOCUMENTS = 250;
/** Dates that all begin alike, with as many digits as 16 KiB of metadata have room for. */
const dates = Array.from({ length: 127 }, (_, n) => `2026-03-01T00:00:00.${String(n).padStart(95, '0')}`);
const later = (n: number) => ({ dates: { $gt: `2026-03-01T00:00:01.${String(n).padStart(95, '1')}` } });
const nothing = { $or: Array.from({ length: 64 }, (_, n) => later(n)) };
const all = {
  $or: [...Array.from({ length: 63 }, (_, n) => later(n)), { dates: { $gt: '2026-02-28T23:59:59' } }],
};

/** Processor time of a turn. Compared with each date anew, a single document takes 10 ms, and a page of them a second. */
const TURN_MILLISECONDS = 300;

describeOnEachSharedIndex((service) => {
  let client: Client;
  beforeAll(async () => {
    client = service.client('alice');
    const content = 'a text';
    for (let sent = 0; sent < DOCUMENTS; sent += 25) {
      const batch = Array.from({ length: 25 }, () =>
        client.ingestText(content, { metadata: { dates } }, { prefer: 'respond-async' }),
      );
      for (const { status } of await Promise.all(batch)) expect(status).toBe(202);
    }
    // The first page of each compiles and loads what it needs.
    await until(async () => (await page(all)).length === 100);
    await page(nothing);
  });

  const page = async (filter: unknown) => {
    const asked = encodeURIComponent(JSON.stringify(filter));
    const { status, body } = await client.get<unknown[]>(`/documents?filters=${asked}`);
    expect(status).toBe(200);
    return body;
  };

  test('filters of many dates on lists of many dates take no turn of the event loop for long', async () => {
    const ask = [
      async () => expect(await page(nothing)).toEqual([]),
      async () => expect(await page(all)).toHaveLength(100),
      async () => {
        const found = await client.searchChunks('text', { k: 200, filters: all });
        expect(found.body).toHaveLength(200);
      },
    ];
    for (const during of ask) {
      const turn = await longestTurnOf(service.longestTurn, { during, enough: TURN_MILLISECONDS });
      expect(turn).toBeLessThan(TURN_MILLISECONDS);
    }
  });
});
