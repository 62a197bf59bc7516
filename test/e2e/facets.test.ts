import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '../../src/shared/document.js';
import type { Client, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import {
  filter as anyFilter,
  metadata as anyMetadata,
  path as anyPath,
} from '../support/filter-arbitraries.js';
import { oracle } from '../support/filter-oracle.js';
import { matchable } from '../support/matchable.js';

interface Counted {
  readonly value: string | number | boolean | null;
  readonly count: number;
}
interface Facet {
  readonly key: string;
  readonly documents: number;
  readonly values: readonly Counted[];
  readonly other: number;
  readonly complete: boolean;
}
interface Facets {
  readonly total: number;
  readonly counted: number;
  readonly facets: readonly Facet[];
}

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;

  async function ingest(client: Client, metadata: unknown, more: Record<string, unknown> = {}) {
    const { status, body } = await client.ingestText('Herons stand in the reeds.', { metadata, ...more });
    expect(status).toBe(200);
    return body.external_id;
  }
  async function count(client: Client, keys: readonly string[], more: Record<string, unknown> = {}) {
    const { status, body } = await client.post<Facets>('/documents/facets', { keys, ...more });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  }
  const pairs = ({ values }: Facet) => values.map(({ value, count: times }) => [value, times]);

  test('are counted with their types, most frequent first, and ties in a fixed order', async () => {
    const client = user('counter of values');
    const values = [
      'b',
      'a',
      'b',
      1,
      '1',
      true,
      null,
      'a',
      10,
      2,
      false,
      'b',
      { inside: 1 },
      ['c', 'c', 'b', [7]],
      [],
    ];
    for (const n of values) await ingest(client, { n });
    await ingest(client, {});
    const { total, counted, facets } = await count(client, ['n', 'nowhere']);
    expect([total, counted]).toEqual([16, 16]);
    expect(facets.map(pairs)).toEqual([
      [
        ['b', 4],
        ['a', 2],
        [null, 1],
        [false, 1],
        [true, 1],
        [1, 1],
        [2, 1],
        [10, 1],
        ['1', 1],
        ['c', 1],
      ],
      [],
    ]);
    expect(facets[0]).toMatchObject({ key: 'n', documents: 13, other: 0, complete: true });
    expect(facets[1]).toEqual({ key: 'nowhere', documents: 0, values: [], other: 0, complete: true });
    const [cut] = (await count(client, ['n'], { limit: 2 })).facets;
    expect(cut).toMatchObject({ documents: 13, other: 8, complete: true });
    expect(cut && pairs(cut)).toEqual([
      ['b', 4],
      ['a', 2],
    ]);
  });

  test('are those of paths and fields, of the documents that a filter lets through', async () => {
    const client = user('counter of paths');
    await ingest(client, { year: 2024, author: { name: 'Ada' } }, { filename: 'Zu\u0308rich.txt' });
    await ingest(client, { year: 2025, author: [{ name: 'Ada' }, { name: 'Bea' }], filename: 'own' });
    await ingest(client, { year: 2026, 'author.name': 'Cleo' });
    const keys = [
      'author.name',
      'content_type',
      'system_metadata.owner',
      'filename',
      'system_metadata.status',
    ];
    const { total, facets } = await count(client, keys, { filters: { year: { $gte: 2025 } } });
    expect(total).toBe(2);
    expect(facets.map((each) => [each.key, ...pairs(each)])).toEqual([
      ['author.name', ['Ada', 1], ['Bea', 1], ['Cleo', 1]],
      ['content_type', ['text/plain', 2]],
      ['system_metadata.owner', [caller('counter of paths'), 2]],
      ['filename', [null, 1], ['own', 1]],
      ['system_metadata.status', ['completed', 2]],
    ]);
    const relative = { filters: { created_at: { $lt: 'now-1h' } } };
    expect(await count(client, ['year'], relative)).toMatchObject({ total: 0, facets: [{ documents: 0 }] });
    const [name] = (await count(client, ['filename'], { filters: { year: 2024 } })).facets;
    expect(name && pairs(name)).toEqual([['Z\u00fcrich.txt', 1]]);
    const failed = await client.ingestFile(new TextEncoder().encode(' '), 'blank.txt');
    expect(failed.status).toBe(400);
    const [status] = (await count(client, ['system_metadata.status'])).facets;
    expect(status && pairs(status)).toEqual([
      ['completed', 3],
      ['failed', 1],
    ]);
  });

  test('never tell of documents that the caller may not read, or does not want to see', async () => {
    const [alice, bob] = [user('facets of alice'), user('facets of bob')];
    await ingest(alice, { secret: 'alpha', kind: 'private' });
    const shared = await ingest(
      alice,
      { secret: 'beta', kind: 'shared' },
      { access_control: { readers: [caller('facets of bob')] } },
    );
    await ingest(bob, { kind: 'own' });
    const of = async (more: Record<string, unknown> = {}) => {
      const { total, facets } = await count(bob, ['secret', 'kind'], more);
      return [total, ...facets.map(pairs)];
    };
    const own = [1, [], [['own', 1]]];
    const both = [
      2,
      [['beta', 1]],
      [
        ['own', 1],
        ['shared', 1],
      ],
    ];
    expect(await of()).toEqual(both);
    expect(await of({ shared: 'all' })).toEqual(both);
    expect(await of({ shared: 'own' })).toEqual(own);
    expect(await of({ shared: 'accepted' })).toEqual(own);
    expect(await of({ filters: { $not: { kind: 'own' } } })).toEqual([1, [['beta', 1]], [['shared', 1]]]);
    expect(await of({ filters: { kind: 'private' } })).toEqual([0, [], []]);
    const revoked = await alice.patch(`/documents/${shared}`, { access_control: { readers: [] } });
    expect([200, 202]).toContain(revoked.status);
    expect(await of()).toEqual(own);
    expect((await count(alice, ['secret'])).facets.map(pairs)).toEqual([
      [
        ['alpha', 1],
        ['beta', 1],
      ],
    ]);
    const stranger = user('facets of nobody');
    expect(await count(stranger, ['secret'])).toMatchObject({ total: 0, facets: [{ values: [] }] });
    const gone = await alice.delete(`/documents/${shared}`);
    expect(gone.status).toBe(200);
    expect((await count(alice, ['secret'])).facets.map(pairs)).toEqual([[['alpha', 1]]]);
  });

  test('of long texts are not told apart', async () => {
    const client = user('counter of long values');
    await ingest(client, { n: 'x'.repeat(256) });
    await ingest(client, { n: ['y'.repeat(257), 'z'.repeat(5_000), 'short'] });
    const [facet] = (await count(client, ['n'])).facets;
    expect(facet).toEqual({
      key: 'n',
      documents: 2,
      values: [
        { value: 'short', count: 1 },
        { value: 'x'.repeat(256), count: 1 },
      ],
      other: 2,
      complete: false,
    });
  });

  test('of requests that are wrong are refused with the name of the field', async () => {
    const client = user('facets misspelt');
    const keys = (length: number) => Array.from({ length }, (_, i) => `k${String(i)}`);
    for (const [body, loc, type] of [
      [{}, ['keys'], 'value_error.missing'],
      [{ keys: null }, ['keys'], 'type_error.none.not_allowed'],
      [{ keys: 'n' }, ['keys'], 'type_error.list'],
      [{ keys: [] }, ['keys'], 'value_error.list.min_items'],
      [{ keys: keys(11) }, ['keys'], 'value_error.list.max_items'],
      [{ keys: ['n', 1] }, ['keys', 1], 'type_error.str'],
      [{ keys: [''] }, ['keys', 0], 'value_error.any_str.min_length'],
      [{ keys: ['k'.repeat(257)] }, ['keys', 0], 'value_error.any_str.max_length'],
      [{ keys: ['$id'] }, ['keys', 0], 'value_error'],
      [{ keys: ['\ud800'] }, ['keys', 0], 'value_error.str.surrogate'],
      [{ keys: ['n'], limit: 0 }, ['limit'], 'value_error.number.not_ge'],
      [{ keys: ['n'], limit: 101 }, ['limit'], 'value_error.number.not_le'],
      [{ keys: ['n'], filters: { n: { $like: 1 } } }, ['filters', 'n', '$like'], 'value_error'],
      [{ keys: ['n'], shared: 'some' }, ['shared'], 'type_error.enum'],
    ] as const) {
      const { status, body: answer } = await client.post('/documents/facets', body);
      expect({ body, status, answer }).toMatchObject({
        status: 422,
        answer: { detail: [{ loc: ['body', ...loc], type }] },
      });
    }
    expect(await count(client, keys(10))).toMatchObject({ total: 0 });
    const strict = { prefer: 'handling=strict' };
    const unknown = await client.post('/documents/facets', { keys: ['n'], filter: {} }, strict);
    expect(unknown).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'filter'] }] } });
    const onlyWrites = service.client('facets misspelt', ['write']);
    expect((await onlyWrites.post('/documents/facets', { keys: ['n'] })).status).toBe(403);
  });

  test('say of each value how many documents a filter for it would find, whatever metadata and filters', async () => {
    const client = user('facets by chance');
    const documents = new Map<string, Record<string, Json>>();
    for (const metadata of fc.sample(anyMetadata, { numRuns: 30, seed: 32 })) {
      const { status, body } = await client.ingestText('By chance.', { metadata });
      if (status === 200) documents.set(body.external_id, metadata);
    }
    const { body: listed } =
      await client.get<(WireDocument & { system_metadata: { created_at: string } })[]>('/documents');
    const known = listed.map((each) =>
      matchable(documents.get(each.external_id) ?? {}, {
        id: each.external_id,
        ownerId: caller('facets by chance'),
        createdAt: each.system_metadata.created_at,
        published: null,
      }),
    );
    expect(known.length).toBeGreaterThan(20);
    for (const [filters, path] of fc.sample(fc.tuple(anyFilter, anyPath), { numRuns: 60, seed: 33 })) {
      // The records of the oracle have no content.
      if (/filename|content_type/.test(JSON.stringify([filters, path]))) continue;
      const matching = known.filter((document) => oracle(document, filters));
      const { total, facets } = await count(client, [path], { filters, limit: 100 });
      expect({ filters, total }).toEqual({ filters, total: matching.length });
      for (const { value, count: times } of facets[0]?.values ?? []) {
        const having = matching.filter((document) => oracle(document, { [path]: value }));
        expect({ filters, path, value, times }).toEqual({ filters, path, value, times: having.length });
      }
      const none = facets[0]?.values.map(({ value }) => value) ?? [];
      const left = matching.filter((document) =>
        oracle(document, {
          [path]: { $in: ['red', 'alice', 1, 2, true, null].filter((each) => !none.includes(each)) },
        }),
      );
      expect({ filters, path, left: left.length }).toEqual({ filters, path, left: 0 });
    }
  });
});
