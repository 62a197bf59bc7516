import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client, WireChunk } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;

  const idsOf = (results: readonly { document_id: string }[]) => results.map(({ document_id: id }) => id);

  async function find(client: Client, path: string, filters: unknown): Promise<WireChunk[]> {
    const { status, body } = await client.post<WireChunk[]>(path, {
      query: 'document filters',
      filters,
      k: 100,
    });
    expect(status).toBe(200);
    return body;
  }
  const findChunks = (client: Client, filters: unknown) => find(client, '/retrieve/chunks', filters);

  test('what shares nothing with the query is found at min_score 0, and is no context of an answer', async () => {
    const client = user('nothing in common');
    const texts = ['Otters eat crabs.', 'Crabs walk along the beach.', 'Lanterns hang over the quay.'];
    for (const text of texts) expect((await client.ingestText(text)).status).toBe(200);
    const asked = { query: 'otters and crabs', k: 100 };
    interface Answer {
      readonly sources: readonly { readonly score: number }[];
      readonly completion: string;
    }
    for (const ranking of ['lexical', 'semantic', 'hybrid']) {
      for (const path of ['/retrieve/chunks', '/retrieve/docs']) {
        const { body } = await client.post<WireChunk[]>(path, { ...asked, ranking, min_score: 0 });
        expect(body.map(({ score }) => score > 0)).toEqual([true, true, false]);
      }
      const about = await client.post<Answer>('/query', { ...asked, ranking, min_score: 0 });
      expect(about.status).toBe(200);
      expect(about.body.sources.map(({ score }) => score > 0)).toEqual([true, true]);
      const nothing = { ranking, k: 100, min_score: 0, query: 'umbrella price' };
      expect((await client.post<WireChunk[]>('/retrieve/chunks', nothing)).body).toHaveLength(3);
      const answer = await client.post<Answer>('/query', nothing);
      expect(answer).toMatchObject({ status: 200, body: { sources: [] } });
      expect(answer.body.completion).not.toMatch(/otter|crab|lantern/i);
    }
  });

  describe('filters', () => {
    const documents: Record<string, Record<string, unknown>> = {
      a: {
        n: 1,
        s: 'x',
        path: '/docs/A/1.md',
        b: true,
        list: ['red', 2],
        o: { p: { q: 'deep' } },
        at: '2026-01-01T00:00:00Z',
      },
      b: {
        n: 2,
        s: '1',
        path: '/docs/b.md',
        b: false,
        list: ['blue'],
        none: null,
        at: '2026-01-01T02:00:00+01:00',
      },
      c: { n: 2.5, s: 'y', list: [], o: [{ p: { q: 'deep' } }], at: '2026-02-01' },
      d: { filename: 'own', 'o.p': 'dotted' },
    };
    let client: Client;
    const names = new Map<string, string>();

    beforeAll(async () => {
      client = user('filterer');
      for (const [name, metadata] of Object.entries(documents)) {
        const { body } = await client.ingestText(`Document ${name} of the filters.`, {
          metadata,
          filename: `${name}.txt`,
        });
        names.set(body.external_id, name);
      }
      const stranger = user('filterer-stranger');
      await stranger.ingestText('Document z of the filters.', { metadata: documents['a'] });
    });

    const named = (results: readonly { document_id: string }[]) =>
      idsOf(results)
        .map((id) => names.get(id) ?? 'stranger')
        .sort()
        .join('');

    test.each<[string, string]>([
      ['{"n":1}', 'a'],
      ['{"n":"1"}', ''],
      ['{"s":"1"}', 'b'],
      ['{"s":1}', ''],
      ['{"b":true}', 'a'],
      ['{"b":1}', ''],
      ['{"n":1,"s":"y"}', ''],
      ['{"n":1,"s":"x"}', 'a'],
      ['{"list":"red"}', 'a'],
      ['{"list":2}', 'a'],
      ['{"o.p.q":"deep"}', 'ac'],
      ['{"o.p":"dotted"}', 'd'],
      ['{"none":null}', 'b'],
      ['{"nowhere":null}', ''],
      ['{"n":{"$eq":2}}', 'b'],
      ['{"n":{"$ne":2}}', 'acd'],
      ['{"list":{"$ne":"red"}}', 'bcd'],
      ['{"n":{"$gt":1}}', 'bc'],
      ['{"n":{"$gte":1,"$lt":2.5}}', 'ab'],
      ['{"n":{"$lte":2}}', 'ab'],
      ['{"at":{"$gt":"2026-01-01T00:30:00Z"}}', 'bc'],
      ['{"at":{"$lte":"2026-01-01T01:00:00Z"}}', 'ab'],
      ['{"n":{"$in":[1,2.5,"x"]}}', 'ac'],
      ['{"n":{"$in":[]}}', ''],
      ['{"n":{"$nin":[1,2.5]}}', 'bd'],
      ['{"n":{"$nin":[]}}', 'abcd'],
      ['{"none":{"$exists":true}}', 'b'],
      ['{"n":{"$exists":false}}', 'd'],
      ['{"path":{"$startsWith":"/docs/"}}', 'ab'],
      ['{"path":{"$startsWith":"/docs/a"}}', ''],
      ['{"list":{"$startsWith":"bl"}}', 'b'],
      ['{"filename":{"$startsWith":"a."}}', 'a'],
      ['{"path":{"$contains":"/A/"}}', 'a'],
      ['{"path":{"$not":{"$contains":"/A/"}}}', 'bcd'],
      ['{"list":{"$contains":"red"}}', 'a'],
      ['{"list":{"$contains":"re"}}', ''],
      ['{"list":{"$contains":2}}', 'a'],
      ['{"list":{"$containsAny":["blue","red"]}}', 'ab'],
      ['{"path":{"$containsAny":["b.md","1.md"]},"n":{"$gt":1}}', 'b'],
      ['{"filename":{"$containsAny":[]}}', ''],
      ['{"filename":{"$contains":".t"}}', 'abc'],
      ['{"created_at":{"$gt":"now-1h"}}', 'abcd'],
      ['{"created_at":{"$gt":"now+1h"}}', ''],
      ['{"at":{"$lt":"now-100y"}}', ''],
      ['{"at":{"$lt":"now+100y/y"}}', 'abc'],
      ['{"$and":[{"n":2},{"s":"1"}]}', 'b'],
      ['{"$or":[{"n":1},{"s":"y"}]}', 'ac'],
      ['{"$not":{"n":1}}', 'bcd'],
      ['{"$or":[{"$not":{"n":{"$gt":1}}},{"list":"blue"}]}', 'abd'],
      ['{"filename":"own"}', 'd'],
      ['{"filename":"a.txt"}', 'a'],
      ['{"content_type":"text/plain"}', 'abcd'],
      ['{"created_at":{"$gt":"2020-01-01"}}', 'abcd'],
      ['{"__proto__":{"$exists":true}}', ''],
      ['{}', 'abcd'],
      ['null', 'abcd'],
    ])('%s selects "%s", in searches, queries and lists alike', async (json, expected) => {
      const filters: unknown = JSON.parse(json);
      expect(named(await findChunks(client, filters))).toBe(expected);
      expect(named(await find(client, '/retrieve/docs', filters))).toBe(expected);
      const query = { query: 'Which document is of the filters?', filters, k: 100 };
      const { body } = await client.post<{ sources: WireChunk[] }>('/query', query);
      expect(named(body.sources)).toBe(expected);
      const list = await client.get<{ external_id: string }[]>(
        `/documents?filters=${encodeURIComponent(json)}`,
      );
      expect(named(list.body.map(({ external_id: id }) => ({ document_id: id })))).toBe(expected);
    });

    test('can name a document by its id, and never reach a document of others', async () => {
      const [id = ''] = names.keys();
      expect(idsOf(await findChunks(client, { external_id: id }))).toEqual([id]);
      for (const filters of [
        { external_id: id },
        { $or: [{ n: 1 }, { $not: { n: 1 } }] },
        { $not: { nowhere: 1 } },
        { readers: caller('filterer') },
        { owner_id: caller('filterer') },
      ]) {
        expect(await findChunks(user('filterer-nobody'), filters)).toEqual([]);
      }
    });

    const deep = (levels: number): unknown => (levels === 0 ? { n: 1 } : { $not: deep(levels - 1) });
    const wide = (conditions: number) => ({ $or: Array.from({ length: conditions }, (_, i) => ({ n: i })) });

    test('that are wrong are refused, never ignored', async () => {
      for (const filters of [
        { n: { $like: 1 } },
        { $nor: [{ n: 1 }] },
        { n: [1] },
        { n: { $in: 1 } },
        { n: { $in: [[1]] } },
        { n: { $gt: 'x' } },
        { n: { $gt: null } },
        { n: { $gt: true } },
        { n: { $lt: [1] } },
        { n: { $gt: 'now-7' } },
        { n: { $startsWith: 1 } },
        { n: { $contains: '' } },
        { n: { $containsAny: 'x' } },
        { n: { p: 1 } },
        { n: { $exists: 1 } },
        { $and: [] },
        { $or: [] },
        { $and: { n: 1 } },
        { $not: [] },
        { $or: [1] },
        deep(9),
        wide(65),
      ]) {
        const reply = await client.searchChunks('document', { filters });
        expect([filters, reply.status]).toEqual([filters, 422]);
        expect(reply.body).toMatchObject({ detail: [{ loc: expect.arrayContaining(['body', 'filters']) }] });
      }
      expect(await findChunks(client, deep(7))).not.toEqual([]);
      expect(await findChunks(client, wide(63))).not.toEqual([]);
    });
  });
});
