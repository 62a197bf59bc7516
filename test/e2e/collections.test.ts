import { expect, test } from '@jest/globals';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { streamQuery } from '../support/event-stream.js';
import { until } from '../support/until.js';

/** A wait in which tags of chunks are rewritten. */
const PATIENT = { prefer: 'wait=60' };
const QUERY = 'heron budget';
const UNKNOWN = '0f0f0f0f-0000-4000-8000-000000000000';

interface Collection {
  readonly id: string;
}
interface Outcome {
  readonly document_id?: string;
  readonly error?: { readonly msg: string };
}

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;

  async function make(client: Client, more: Record<string, unknown> = {}): Promise<string> {
    const { status, body } = await client.post<Collection>('/collections', { name: 'Herons', ...more });
    expect(status).toBe(200);
    return body.id;
  }
  const ingest = async (client: Client, more: Record<string, unknown> = {}): Promise<string> => {
    const answer = await client.ingestText('The heron sings about the budget.', more, PATIENT);
    expect(answer.status).toBe(200);
    return answer.body.external_id;
  };
  const upload = async (
    client: Client,
    path: string,
    fields: Record<string, string>,
    names: readonly string[],
  ) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    for (const name of names)
      body.append(
        path === '/ingest/files' ? 'files' : 'file',
        new Blob([`A heron and the budget: ${name}.`]),
        name,
      );
    return client.send<WireDocument & Outcome[]>('POST', path, { body, headers: PATIENT });
  };
  const set = (...ids: readonly string[]) => new Set(ids);

  /** The documents that are found in a collection, which must be the same in every way to find them. */
  async function seen(client: Client, collection: string, filters?: unknown): Promise<ReadonlySet<string>> {
    const ids = (found: readonly { readonly document_id: string }[]) =>
      new Set(found.map(({ document_id: id }) => id));
    const asked = new URLSearchParams({
      collection,
      total: 'true',
      filters: JSON.stringify(filters ?? null),
    });
    const listing = await client.get<WireDocument[]>(`/documents?${asked.toString()}`);
    expect(listing.status).toBe(200);
    const listed = new Set(listing.body.map(({ external_id: id }) => id));
    expect(listing.headers.get('quire-total')).toBe(String(listed.size));
    for (const ranking of ['lexical', 'semantic', 'hybrid']) {
      const search = { query: QUERY, k: 50, ranking, collection, filters };
      const chunks = await client.post<WireChunk[]>('/retrieve/chunks', search);
      const documents = await client.post<WireChunk[]>('/retrieve/docs', search);
      const answer = await client.post<{ sources: WireChunk[] }>('/query', { ...search, max_tokens: 50 });
      expect([chunks.status, documents.status, answer.status]).toEqual([200, 200, 200]);
      for (const found of [chunks.body, documents.body, answer.body.sources])
        expect([ranking, ids(found)]).toEqual([ranking, listed]);
    }
    const messages = [{ role: 'user', content: QUERY }];
    const chat = { model: 'quire', messages, k: 50, collection, filters, max_tokens: 50 };
    const told = await client.post<{ sources: WireChunk[] }>('/v1/chat/completions', chat);
    expect([told.status, ids(told.body.sources)]).toEqual([200, listed]);
    const { text } = await streamQuery(service.url, client, { query: QUERY, k: 50, collection, filters });
    for (const id of listed) expect(text).toContain(id);
    const counts = await client.post('/documents/facets', { keys: ['content_type'], collection, filters });
    expect(counts).toMatchObject({ status: 200, body: { total: listed.size } });
    for (const answer of await askByProtocols(client, collection, filters)) {
      expect(answer.status).toBe(200);
      expect(answer.ids).toEqual(listed);
    }
    return listed;
  }

  /** The documents that protocols of others find in a collection, whose id is a name of theirs. */
  async function askByProtocols(client: Client, collection: string, filters?: unknown) {
    const search = { filters, k: 50 };
    const args = { query: QUERY, collection, ...(filters !== undefined && { filters }), k: 50 };
    const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: args } };
    const asked = [
      [
        '/v1/chat/completions',
        { ...search, model: `quire/${collection}`, messages: [{ role: 'user', content: QUERY }] },
      ],
      [
        '/v1/responses',
        {
          ...search,
          model: 'quire',
          input: QUERY,
          include: ['file_search_call.results'],
          tools: [{ type: 'file_search', vector_store_ids: [collection], max_num_results: 50 }],
        },
      ],
      ['/mcp', mcp],
      ...(filters === undefined
        ? [
            [
              '/dify/retrieval',
              {
                knowledge_id: collection,
                query: QUERY,
                retrieval_setting: { top_k: 50, score_threshold: 0 },
              },
            ] as const,
          ]
        : []),
    ] as const;
    return Promise.all(
      asked.map(async ([path, body]) => {
        const { status, body: answer } = await client.post<unknown>(path, body);
        const named = JSON.stringify(answer).matchAll(
          /"(?:document_id|file_id|id)":"([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:-\d+)?"/g,
        );
        return { path, status, ids: new Set(Array.from(named, ([, id]) => id ?? '')) };
      }),
    );
  }

  test('a collection of others is unknown to protocols of others, too', async () => {
    const id = await make(user('keeping'));
    for (const collection of [id, UNKNOWN]) {
      const answers = await askByProtocols(user('prying'), collection);
      expect(answers.map(({ path, status }) => [path, status])).toEqual([
        ['/v1/chat/completions', 404],
        ['/v1/responses', 404],
        // An error of a tool is an answer.
        ['/mcp', 200],
        ['/dify/retrieval', 404],
      ]);
      expect(answers.map(({ ids }) => [...ids].filter((each) => each !== collection))).toEqual([
        [],
        [],
        [],
        [],
      ]);
    }
  });

  test('documents are found in the collection that they were ingested into, whichever way, and nowhere else', async () => {
    const client = user('ingesting');
    const [id, other] = [await make(client), await make(client)];
    await ingest(client);
    await ingest(client, { collection: other });
    const text = await ingest(client, { collection: id, metadata: { n: 1 } });
    const batch = await client.post<Outcome[]>(
      '/ingest/batch',
      {
        documents: [
          { content: 'A heron asks for the budget.', collection: id },
          { content: 'The budget of a heron.' },
        ],
      },
      PATIENT,
    );
    const file = await upload(client, '/ingest/file', { collection: id }, ['one.txt']);
    const same = await upload(client, '/ingest/files', { collection: id }, ['two.txt', 'three.txt']);
    const each = await upload(client, '/ingest/files', { collection: JSON.stringify([id, other]) }, [
      '4.txt',
      '5.txt',
    ]);
    expect([batch.status, file.status, same.status, each.status]).toEqual([200, 200, 200, 200]);
    const outcomes = [batch.body[0], same.body[0], same.body[1], each.body[0]];
    const ids = outcomes.map((outcome) => outcome?.document_id ?? '');
    expect(await seen(client, id)).toEqual(set(text, file.body.external_id, ...ids));
    expect(await seen(client, id, { n: 1 })).toEqual(set(text));
  });

  test('documents are found when they were put in, and not from the moment on when they are taken out', async () => {
    const client = user('moving');
    const id = await make(client);
    const [a, b, c] = [await ingest(client), await ingest(client), await ingest(client)];
    expect(await seen(client, id)).toEqual(set());
    const path = `/collections/${id}/documents`;
    expect((await client.put(`${path}/${a}`, {}, PATIENT)).status).toBe(200);
    expect(await seen(client, id)).toEqual(set(a));
    expect((await client.post(path, { add: [b, c] })).status).toBe(200);
    await until(async () => (await client.searchChunks(QUERY, { k: 50, collection: id })).body.length === 3);
    expect(await seen(client, id)).toEqual(set(a, b, c));
    expect((await client.delete(`${path}/${a}`)).status).toBeLessThan(203);
    expect(await seen(client, id)).toEqual(set(b, c));
    expect((await client.post(path, { remove: [b, c] })).status).toBe(200);
    expect(await seen(client, id)).toEqual(set());
    const replaced = await client.put(
      `/documents/${a}/content`,
      { content: 'Another heron and its budget.' },
      PATIENT,
    );
    expect(replaced.status).toBe(200);
    expect((await client.put(`${path}/${a}`, {}, PATIENT)).status).toBe(200);
    await client.patch(`/documents/${a}`, { metadata: { kind: 'x' } });
    expect(await seen(client, id)).toEqual(set(a));
  });

  test('the filter of the collection narrows what is found in it, from the moment on when it is changed', async () => {
    const client = user('narrowing');
    const id = await make(client, { filter: { year: { $gte: 2025 } } });
    const [old, recent] = [
      await ingest(client, { collection: id, metadata: { year: 2020 } }),
      await ingest(client, { collection: id, metadata: { year: 2026 } }),
    ];
    await ingest(client, { metadata: { year: 2026 } });
    expect(await seen(client, id)).toEqual(set(recent));
    expect(await seen(client, id, { year: { $lt: 2025 } })).toEqual(set());
    await client.patch(`/collections/${id}`, { filter: { $not: { year: 2026 } } });
    expect(await seen(client, id)).toEqual(set(old));
    await client.patch(`/collections/${id}`, { filter: null });
    expect(await seen(client, id)).toEqual(set(old, recent));
  });

  test('another tenant finds nothing by it, and a reader no more than they may read anyhow', async () => {
    const [owner, reader, stranger] = [user('owning'), user('reading'), user('strange')];
    const id = await make(owner, { access_control: { readers: [caller('reading')] } });
    const shared = await ingest(owner, {
      collection: id,
      access_control: { readers: ['reading', 'strange'].map(caller) },
    });
    const closed = await ingest(owner, { collection: id });
    expect(await seen(owner, id)).toEqual(set(shared, closed));
    expect(await seen(reader, id)).toEqual(set(shared));
    const cache = { name: 'herons', model: 'm', gguf_file: 'f' };
    for (const collection of [id, UNKNOWN]) {
      const asked = { query: QUERY, collection };
      const detail = `Collection '${collection}' not found`;
      for (const [path, body] of [
        ['/retrieve/chunks', asked],
        ['/retrieve/docs', asked],
        ['/query', asked],
        ['/query', { ...asked, stream: true }],
        ['/ingest/text', { content: 'x', collection }],
        ['/cache/create', { ...cache, collection }],
      ] as const)
        expect({ path, ...(await stranger.post(path, body)) }).toMatchObject({
          path,
          status: 404,
          body: { detail },
        });
      const chat = { model: 'quire', messages: [{ role: 'user', content: QUERY }], collection };
      expect(await stranger.post('/v1/chat/completions', chat)).toMatchObject({
        status: 404,
        body: { error: { message: detail } },
      });
      expect(await upload(stranger, '/ingest/file', { collection }, ['x.txt'])).toMatchObject({
        status: 404,
        body: { detail },
      });
      expect(await upload(stranger, '/ingest/files', { collection }, ['x.txt'])).toMatchObject({
        status: 200,
        body: [{ index: 0, error: { msg: detail } }],
      });
    }
    expect(await upload(reader, '/ingest/file', { collection: id }, ['x.txt'])).toMatchObject({
      status: 403,
    });
    expect((await stranger.get<WireDocument[]>('/documents?shared=own')).body).toEqual([]);
    expect((await reader.get<WireDocument[]>('/documents?shared=own')).body).toEqual([]);
  });

  test('a cache holds the documents of a collection, and new ones when it is brought up to date', async () => {
    const client = user('caching');
    const id = await make(client, { filter: { kind: 'final' } });
    await ingest(client);
    await ingest(client, { collection: id, metadata: { kind: 'draft' } });
    await ingest(client, { collection: id, metadata: { kind: 'final' } });
    const asked = { name: 'herons', model: 'm', gguf_file: 'f', collection: id };
    const made = await client.post('/cache/create', asked, PATIENT);
    expect(made).toMatchObject({ status: 200, body: { doc_count: 1, collection: id } });
    await ingest(client, { collection: id, metadata: { kind: 'final' } });
    expect((await client.post('/cache/herons/update', {}, PATIENT)).status).toBe(200);
    expect((await client.get('/cache/herons')).body).toMatchObject({ doc_count: 2 });
    await client.delete(`/collections/${id}`);
    expect(await client.post('/cache/herons/update', {}, PATIENT)).toMatchObject({ status: 404 });
  });

  test('a collection is deleted with its documents, and with none that was not put in', async () => {
    const client = user('deleting');
    const id = await make(client);
    const kept = await ingest(client);
    for (let i = 0; i < 3; i += 1) await ingest(client, { collection: id });
    expect(await client.delete(`/collections/${id}?documents=delete`)).toMatchObject({
      status: 200,
      body: { success: true, documents_deleted: 3 },
    });
    const { body } = await client.searchChunks(QUERY, { k: 50 });
    expect(body.map(({ document_id: found }) => found)).toEqual([kept]);
  });
});
