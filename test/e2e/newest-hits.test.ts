import { expect, test } from '@jest/globals';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';

/** Some chunks long. */
const longText = (word: string) =>
  Array.from({ length: 900 }, (_, i) => `The ${word} of paragraph ${String(i)} stands here.`).join('\n\n');

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;
  const all = { kind: { $exists: true } };

  async function ingest(client: Client, content: string, more: Record<string, unknown> = {}) {
    const { status, body } = await client.ingestText(content, { metadata: { kind: 'note' }, ...more });
    expect(status).toBe(200);
    return body.external_id;
  }
  async function find(client: Client, path: 'chunks' | 'docs', body: unknown) {
    const reply = await client.post<WireChunk[]>(`/retrieve/${path}`, body);
    expect({ body, status: reply.status }).toEqual({ body, status: 200 });
    return reply.body;
  }
  const idsOf = (found: readonly WireChunk[]) => found.map(({ document_id: id }) => id);

  test('a filter alone finds the newest documents, and their chunks in the order of the text', async () => {
    const client = user('newest');
    const ids: string[] = [];
    for (const word of ['heron', 'otter', 'crab']) ids.unshift(await ingest(client, longText(word)));
    ids.unshift(await ingest(client, 'A short one.', { metadata: { kind: 'short' } }));
    const listed = await client.get<WireDocument[]>('/documents');
    expect(listed.body.map(({ external_id: id }) => id)).toEqual(ids);
    const counts = listed.body.map(({ system_metadata: { chunk_count: count } }) => count);
    expect(counts.slice(1).every((count) => count > 5)).toBe(true);

    const chunks = await find(client, 'chunks', { filters: all, k: 1_000 });
    const expected = ids.flatMap((id, i) => Array.from({ length: counts[i] ?? 0 }, (_, n) => [id, n, 1]));
    const shown = ({ document_id: id, chunk_number: n, score }: WireChunk) => [id, n, score];
    expect(chunks.map(shown)).toEqual(expected);
    expect(chunks[0]?.content).toBe('A short one.');
    const few = await find(client, 'chunks', { query: null, filters: all, k: 4, min_score: 1 });
    expect(few.map(shown)).toEqual(expected.slice(0, 4));

    const documents = await find(client, 'docs', { filters: all, k: 10 });
    expect(documents.map(({ document_id: id, score }) => [id, score])).toEqual(ids.map((id) => [id, 1]));
    expect(idsOf(await find(client, 'docs', { filters: all, k: 2 }))).toEqual(ids.slice(0, 2));
    expect(idsOf(await find(client, 'docs', { filters: { kind: 'short' } }))).toEqual(ids.slice(0, 1));
    expect(await find(client, 'chunks', { filters: { kind: 'none' } })).toEqual([]);
  });

  test('many documents are found, whatever pages the list has', async () => {
    const client = user('newest of many');
    const texts = Array.from({ length: 130 }, (_, i) => ({
      content: `Note ${String(i)}.`,
      metadata: { kind: 'note', n: i, label: `n${String(i)}` },
    }));
    const { status } = await client.post('/ingest/batch', { documents: texts }, { prefer: 'wait=60' });
    expect(status).toBe(200);
    const of = async (filters: unknown, k: number) =>
      (await find(client, 'docs', { filters, k })).map(({ document_id: id }) => id);
    const list: string[] = [];
    for (const skip of [0, 100]) {
      const page = await client.get<WireDocument[]>(`/documents?skip=${String(skip)}`);
      list.push(...page.body.map(({ external_id: id }) => id));
    }
    expect(await of(all, 1_000)).toEqual(list);
    expect(await of(all, 25)).toEqual(list.slice(0, 25));
    expect(await of({ label: { $startsWith: 'n12' } }, 100)).toHaveLength(11);
    expect(await of({ label: { $contains: '2' }, n: { $lt: 30 } }, 100)).toHaveLength(12);
  });

  test('what the caller may not read, or does not want to see, is not found', async () => {
    const [alice, bob] = [user('newest of alice'), user('newest of bob')];
    const readers = { access_control: { readers: [caller('newest of bob')] } };
    await ingest(alice, 'A private note.');
    const shared = await ingest(alice, 'A shared note.', readers);
    const own = await ingest(bob, 'A note of one’s own.');
    const both = async (more: Record<string, unknown> = {}) => {
      const body = { filters: all, k: 10, ...more };
      const [chunks, documents] = [await find(bob, 'chunks', body), await find(bob, 'docs', body)];
      expect(idsOf(chunks)).toEqual(idsOf(documents));
      return idsOf(documents);
    };
    expect(await both()).toEqual([own, shared]);
    expect(await both({ shared: 'own' })).toEqual([own]);
    expect(await both({ shared: 'accepted' })).toEqual([own]);
    expect(
      (await bob.put(`/sharing/blocked/${encodeURIComponent(caller('newest of alice'))}`, {})).status,
    ).toBe(200);
    expect(await both()).toEqual([own]);
    const unblocked = await bob.delete(`/sharing/blocked/${encodeURIComponent(caller('newest of alice'))}`);
    expect(unblocked.status).toBe(200);
    expect(await both()).toEqual([own, shared]);
    await alice.patch(`/documents/${shared}`, { access_control: { readers: [] } });
    expect(await both()).toEqual([own]);
    expect(await find(user('newest of nobody'), 'chunks', { filters: all })).toEqual([]);
    await bob.delete(`/documents/${own}`);
    expect(await both()).toEqual([]);
  });

  test('documents of which nothing is published are left out', async () => {
    const client = user('newest unpublished');
    const note = await ingest(client, 'A note.', { metadata: {} });
    const blank = await client.ingestFile(new TextEncoder().encode(' '), 'blank.txt');
    expect(blank.status).toBe(400);
    expect(idsOf(await find(client, 'docs', { filters: { created_at: { $gt: 'now-1h' } } }))).toEqual([note]);
  });

  test('it counts as a search, without tokens and without a query', async () => {
    const client = user('newest counted');
    await ingest(client, 'A note.');
    await find(client, 'chunks', { filters: all });
    await find(client, 'docs', { filters: all, shared: 'all' });
    const { body } = await client.get<Record<string, unknown>[]>('/usage/recent?limit=2');
    expect(body).toMatchObject([
      { operation_type: 'retrieve_docs', tokens_used: 0, status: 'success' },
      { operation_type: 'retrieve_chunks', tokens_used: 0, status: 'success' },
    ]);
    expect(body.map(({ metadata }) => metadata)).toEqual([
      { k: 4, min_score: 0, shared: 'all' },
      { k: 4, min_score: 0 },
    ]);
  });

  test('a request that says neither is refused, and so is what needs a query', async () => {
    const client = user('newest misspelt');
    const missing = [['query'], 'value_error.missing'] as const;
    const none = [['query'], 'type_error.none.not_allowed'] as const;
    for (const path of ['/retrieve/chunks', '/retrieve/docs']) {
      for (const [body, ...expected] of [
        [{}, missing],
        [{ query: null }, none],
        [{ query: null, filters: null }, none],
        [{ filters: {} }, missing],
        [{ filters: { $and: [{}] } }, missing],
        [{ k: 0 }, [['k'], 'value_error.number.not_ge'], missing],
        [{ query: '', filters: all }, [['query'], 'value_error.any_str.min_length']],
        [{ query: ' ', filters: all }, [['query'], 'value_error.any_str.min_length']],
        [{ query: 5, filters: all }, [['query'], 'type_error.str']],
        [{ filters: { kind: { $like: 1 } } }, [['filters', 'kind', '$like'], 'value_error']],
        [{ filters: all, ranking: 'lexical' }, [['ranking'], 'value_error']],
        [{ filters: all, rerank: true }, [['rerank'], 'value_error']],
        [{ filters: all, rerank: { top_n: 0 } }, [['rerank', 'top_n'], 'value_error.number.not_ge']],
        [{ filters: all, ranking: 'best' }, [['ranking'], 'type_error.enum']],
      ] as const) {
        const reply = await client.post<{ detail: { loc: string[]; type: string }[] }>(path, body);
        const told = reply.body.detail.map(({ loc, type }) => [loc.slice(1), type]);
        expect({ body, status: reply.status, told: told.sort() }).toEqual({
          body,
          status: 422,
          told: [...expected].sort(),
        });
      }
      expect((await client.post(path, { filters: all, rerank: false, ranking: null })).status).toBe(200);
    }
    for (const body of [null, [], [1], 'heron', 5])
      expect([body, (await client.post('/retrieve/chunks', body)).status]).toEqual([body, 422]);
    const asked = await client.post('/query', { filters: all });
    expect(asked).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'query'] }] } });
  });
});
