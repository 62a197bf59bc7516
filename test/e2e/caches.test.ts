import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type Client } from '../support/client.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;

beforeAll(async () => {
  service = await startService({
    workers: ['ingestion,embedding,usage,maintenance', 'cache'],
    env: { QUIRE_COMPLETION_CONTEXT_WINDOW: '2048' },
  });
}, 60_000);

afterAll(async () => {
  await service.stop();
});

const user = (name: string, permissions?: readonly string[]) => createClient(service.url, name, permissions);
const model = { model: 'some-model', gguf_file: 'some-model.gguf' };

interface Configuration {
  readonly status: string;
  readonly doc_count: number;
  readonly token_count: number;
  readonly detail: unknown;
}

interface Answer {
  readonly completion: string;
  readonly tokens_used: number;
  readonly finish_reason: string;
  readonly usage: {
    readonly completion_tokens: number;
    readonly prompt_tokens: number;
    readonly total_tokens: number;
  };
  readonly tokens_reused: number;
}

interface UsageRecord {
  readonly operation_type: string;
  readonly status: string;
  readonly tokens_used: number;
  readonly metadata: Record<string, unknown>;
}

async function ingest(client: Client, content: string, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await client.ingestText(content, more);
  expect(status).toBe(200);
  return body.external_id;
}

const create = (client: Client, name: string, selection: Record<string, unknown>) =>
  client.post<Configuration>('/cache/create', { name, ...model, ...selection });

async function completionOf(client: Client, name: string, query: string): Promise<string> {
  const { status, body } = await client.post<Answer>(`/cache/${name}/query`, { query });
  expect(status).toBe(200);
  return body.completion;
}

/** Cache operations of a user, oldest first, as `operation status error`. */
async function cacheRecords(client: Client): Promise<string[]> {
  const { body } = await client.get<UsageRecord[]>('/usage/recent?limit=1000');
  return body
    .filter(({ operation_type: operation }) => operation.includes('cache'))
    .map(({ operation_type: operation, status, metadata: { error } }) =>
      [operation, status, ...(error === undefined ? [] : [String(error)])].join(' '),
    )
    .reverse();
}

describe('a named cache', () => {
  test('is made, shown, asked, extended and deleted, and each operation is counted once', async () => {
    const ann = user('ann');
    const first = await ingest(ann, 'The harbour has seven cranes.', { metadata: { topic: 'harbour' } });
    const other = await ingest(ann, 'The lighthouse keeper is called Olga.', {
      metadata: { topic: 'light' },
    });

    const created = await create(ann, 'port', { filters: { topic: 'harbour' } });
    const configuration = {
      ...{ name: 'port', ...model, filters: { topic: 'harbour' }, doc_count: 1, engine: 'prompt' },
      ...{ token_count: expect.any(Number), status: 'ready' },
    };
    expect(created.status).toBe(200);
    expect(created.body).toEqual({ ...configuration, success: true });
    expect(created.body.token_count).toBeGreaterThan(0);
    expect((await ann.get('/cache/port')).body).toEqual({ ...configuration, exists: true });
    expect((await ann.get('/caches')).body).toEqual([configuration]);

    const answer = await ann.post<Answer>('/cache/port/query', { query: 'How many cranes are there?' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      completion: expect.stringContaining('seven cranes'),
      tokens_used: answer.body.usage.total_tokens,
      finish_reason: 'stop',
      usage: {
        completion_tokens: expect.any(Number),
        prompt_tokens: expect.any(Number),
        total_tokens: answer.body.usage.completion_tokens + answer.body.usage.prompt_tokens,
      },
      tokens_reused: expect.any(Number),
    });

    await ingest(ann, 'The harbour master is called Ibrahim.', { metadata: { topic: 'harbour' } });
    expect(await completionOf(ann, 'port', 'Who is the harbour master?')).not.toContain('Ibrahim');
    expect(await ann.post('/cache/port/update')).toMatchObject({ status: 200, body: { success: true } });
    expect(await completionOf(ann, 'port', 'Who is the harbour master?')).toContain('Ibrahim');

    expect(await completionOf(ann, 'port', 'Who is the lighthouse keeper?')).not.toContain('Olga');
    const added = await ann.post('/cache/port/add_docs', { docs: [other, first] });
    expect(added).toMatchObject({ status: 200, body: { success: true, status: 'ready' } });
    expect(await completionOf(ann, 'port', 'Who is the lighthouse keeper?')).toContain('Olga');
    expect((await ann.get('/cache/port')).body).toMatchObject({ doc_count: 3 });

    expect(await ann.delete('/cache/port')).toMatchObject({ status: 200, body: { success: true } });
    expect((await ann.get('/cache/port')).body).toEqual({ exists: false });
    expect((await ann.get('/caches')).body).toEqual([]);
    expect((await ann.get(`/documents/${first}`)).status).toBe(200);

    const { body: stats } = await ann.get('/usage/stats');
    expect(stats).toEqual({
      ...{ ingest_text: 3, create_cache: 1, update_cache: 1, add_docs_to_cache: 1, query_cache: 5 },
    });
    const { body: records } = await ann.get<UsageRecord[]>('/usage/recent?operation_type=query_cache');
    expect(records.at(-1)).toMatchObject({
      tokens_used: answer.body.tokens_used,
      status: 'success',
      metadata: { query: 'How many cranes are there?', cache: 'port' },
    });
    const { body: builds } = await ann.get<UsageRecord[]>('/usage/recent?operation_type=create_cache');
    expect(builds).toMatchObject([{ status: 'success', metadata: { cache: 'port' } }]);
  });

  test('belongs to its creator: names are per owner', async () => {
    const [bea, carl] = [user('bea'), user('carl')];
    await ingest(bea, 'Bea grows nine lemon trees.');
    await ingest(carl, 'Carl grows two lemon trees.');
    expect((await create(bea, 'garden', { filters: {} })).status).toBe(200);
    expect((await carl.get('/cache/garden')).body).toEqual({ exists: false });
    expect((await carl.get('/caches')).body).toEqual([]);
    expect((await create(carl, 'garden', { filters: {} })).status).toBe(200);
    expect(await completionOf(bea, 'garden', 'How many lemon trees?')).toContain('nine');
    expect(await completionOf(carl, 'garden', 'How many lemon trees?')).toContain('two');
    expect((await carl.delete('/cache/garden')).status).toBe(200);
    expect(await completionOf(bea, 'garden', 'How many lemon trees?')).toContain('nine');
  });

  test('that is unknown is 404 for update, add_docs, query and delete', async () => {
    const client = user('asker');
    const detail = "Cache 'nothing' not found";
    for (const reply of [
      await client.post('/cache/nothing/update'),
      await client.post('/cache/nothing/add_docs', { docs: [] }),
      await client.post('/cache/nothing/query', { query: 'Anything?' }),
      await client.delete('/cache/nothing'),
    ]) {
      expect(reply).toMatchObject({ status: 404, body: { detail } });
    }
    expect(await client.get('/cache/nothing')).toMatchObject({ status: 200, body: { exists: false } });
    const strange = encodeURIComponent('no cache/has "such" a name');
    expect((await client.get(`/cache/${strange}`)).body).toEqual({ exists: false });
    expect((await client.post(`/cache/${strange}/query`, { query: 'Anything?' })).status).toBe(404);
    expect(await cacheRecords(client)).toEqual([]);
  });

  test('has a name of letters, digits, dots, underscores and hyphens', async () => {
    const client = user('namer');
    await ingest(client, 'A name is a name.');
    for (const name of ['a', '0.x_Y-z', 'n'.repeat(128)]) {
      expect((await create(client, name, { filters: {} })).status).toBe(200);
    }
    for (const name of ['', '.a', '-a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'n'.repeat(129)]) {
      const reply = await create(client, name, { filters: {} });
      expect([name, reply.status, reply.body.detail]).toEqual([
        ...[name, 422, [expect.objectContaining({ loc: ['body', 'name'] })]],
      ]);
    }
  });

  test('needs the right permissions', async () => {
    await ingest(user('limited'), 'Reading is not writing.');
    expect((await create(user('limited'), 'mine', { filters: {} })).status).toBe(200);
    const reader = user('limited', ['read']);
    for (const { status } of [
      await create(reader, 'mine', { filters: {} }),
      await reader.post('/cache/mine/update'),
      await reader.post('/cache/mine/add_docs', { docs: [] }),
      await reader.delete('/cache/mine'),
    ]) {
      expect(status).toBe(403);
    }
    expect((await reader.get('/cache/mine')).body).toMatchObject({ exists: true });
    expect(await completionOf(reader, 'mine', 'What is not writing?')).toContain('Reading');
  });
});

describe('what goes into a cache', () => {
  test('is what filters select, what is listed, or both together', async () => {
    const [client, friend] = [user('chooser'), user('chooser-friend')];
    const red = await ingest(client, 'A red kite.', { metadata: { color: 'red' } });
    await ingest(client, 'A blue kite.', { metadata: { color: 'blue' } });
    await ingest(friend, 'A secret red kite.', { metadata: { color: 'red' } });
    const access_control = { readers: ['chooser'] };
    await ingest(friend, 'A shared red kite.', { metadata: { color: 'red' }, access_control });
    const counted = async (selection: Record<string, unknown>) => {
      const { status, body } = await create(client, 'kites', selection);
      expect(status).toBe(200);
      return body;
    };
    expect(await counted({ filters: { color: 'red' } })).toMatchObject({ doc_count: 2 });
    expect(await counted({ docs: [red, red] })).toMatchObject({ doc_count: 1 });
    expect(await counted({ docs: [red], filters: null })).not.toHaveProperty('filters');
    expect(await counted({ docs: [red], filters: { color: 'blue' } })).toMatchObject({ doc_count: 2 });
    expect(await counted({ filters: {}, docs: null })).toMatchObject({ doc_count: 3, filters: {} });
    expect(await completionOf(client, 'kites', 'Which kite is secret?')).not.toContain('secret');
  });

  test('must be known, readable, completed, and something', async () => {
    const [client, stranger] = [user('picky'), user('picky-stranger')];
    const mine = await ingest(client, 'Mine.', { metadata: { kind: 'text' } });
    const theirs = await ingest(stranger, 'Theirs.');
    const { headers } = await client.ingestFile(Buffer.from('  \n '), 'blank.txt');
    const failed = headers.get('location')?.split('/').at(-1) ?? '';
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const docs of [[unknown], [mine, unknown], [theirs], ['no id at all']]) {
      expect(await create(client, 'refused', { docs })).toMatchObject({
        status: 404,
        body: { detail: 'Document not found' },
      });
    }
    expect((await create(client, 'refused', { docs: [mine, failed] })).status).toBe(409);
    for (const nothing of [
      ...[{}, { docs: null, filters: null }, { docs: [] }, { filters: { kind: 'none' } }],
      { docs: [], filters: { kind: 'none' } },
    ]) {
      expect(await create(client, 'refused', nothing)).toMatchObject({
        status: 400,
        body: { detail: 'No documents to add to cache' },
      });
    }
    const wrong = await create(client, 'refused', { filters: { kind: { $like: 'x' } } });
    expect(wrong).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'filters', 'kind', '$like'] }] },
    });
    expect((await client.get('/cache/refused')).body).toEqual({ exists: false });
    // What filters match and is not completed is left out.
    expect(await create(client, 'kept', { filters: {} })).toMatchObject({
      status: 200,
      body: { doc_count: 1 },
    });
    for (const docs of [[unknown], [theirs]]) {
      expect((await client.post('/cache/kept/add_docs', { docs })).status).toBe(404);
    }
    expect((await client.post('/cache/kept/add_docs', { docs: [failed] })).status).toBe(409);
    expect((await client.get('/cache/kept')).body).toMatchObject({ doc_count: 1, status: 'ready' });
    expect(await cacheRecords(client)).toEqual(['create_cache success']);
  });

  test('must fit the window of the model: else 400 with both numbers, and the one before stays', async () => {
    const client = user('long');
    const small = await ingest(client, 'The small one says: periwinkle.', { metadata: { size: 'small' } });
    const text = Array.from({ length: 400 }, (_, i) => `Entry ${String(i)} of the long list.`).join(' ');
    const large = await ingest(client, text, { metadata: { size: 'large' } });
    expect((await create(client, 'fits', { docs: [small] })).status).toBe(200);
    for (const reply of [
      await create(client, 'fits', { docs: [large] }),
      await create(client, 'fits', { filters: { size: 'large' } }),
      await client.post('/cache/fits/add_docs', { docs: [large] }),
    ]) {
      expect(reply).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
      const { detail } = reply.body as { detail: string };
      const [tokens, window] = (detail.match(/\d+/g) ?? []).map(Number);
      expect(window).toBe(2048);
      expect(tokens).toBeGreaterThan(2048);
    }
    expect((await client.get('/cache/fits')).body).toMatchObject({
      exists: true,
      status: 'ready',
      doc_count: 1,
    });
    expect(await completionOf(client, 'fits', 'What does the small one say?')).toContain('periwinkle');
    const question = `${text} Why?`;
    expect((await client.post('/cache/fits/query', { query: question })).status).toBe(400);
    expect(await cacheRecords(client)).toEqual(['create_cache success', 'query_cache success']);
  });
});

describe('what clients send', () => {
  test('comes from the JSON body or, where missing there, from the query string', async () => {
    const client = user('sender');
    await ingest(client, 'There are eleven oars in the boathouse.');
    const place = new URLSearchParams({ name: 'oars', ...model });
    const created = await client.post(`/cache/create?${place.toString()}`, { filters: {}, docs: null });
    expect(created).toMatchObject({ status: 200, body: { name: 'oars', ...model, doc_count: 1 } });
    const other = await client.post('/cache/create?name=other', { name: 'paddles', ...model, filters: {} });
    expect(other).toMatchObject({ status: 200, body: { name: 'paddles' } });
    const { body: names } = await client.get<{ name: string }[]>('/caches');
    expect(names.map(({ name }) => name)).toEqual(['oars', 'paddles']);

    const asked = `/cache/oars/query?${new URLSearchParams({ query: 'How many oars?' }).toString()}`;
    const type = { 'content-type': 'application/json' };
    for (const init of [
      { headers: type, body: '""' },
      { headers: type, body: '{}' },
      { headers: type },
      {},
    ]) {
      const reply = await client.send<Answer>('POST', asked, init);
      expect(reply).toMatchObject({ status: 200, body: { finish_reason: 'stop' } });
      expect(reply.body.completion).toContain('eleven oars');
    }
    const short = await client.send('POST', `${asked}&max_tokens=4&temperature=0.5`, {
      headers: type,
      body: '""',
    });
    expect(short).toMatchObject({ status: 200, body: { finish_reason: 'length' } });
    // What the client leaves out, some HTTP libraries send as an empty parameter.
    const blank = await client.send('POST', `${asked}&max_tokens=&temperature=`, {
      headers: type,
      body: '""',
    });
    expect(blank).toMatchObject({ status: 200, body: { finish_reason: 'stop' } });
    expect((await client.send('POST', '/cache/oars/update', { headers: type, body: '""' })).status).toBe(200);
    expect((await client.send('POST', '/cache/oars/update')).status).toBe(200);
  });

  test('is checked: each failure is named', async () => {
    const client = user('checked');
    const missing = { msg: 'field required', type: 'value_error.missing' };
    const body = (name: string) => ({ loc: ['body', name], ...missing });
    expect(await client.post('/cache/create', {})).toMatchObject({
      status: 422,
      body: { detail: [body('name'), body('model'), body('gguf_file')] },
    });
    expect((await client.send('POST', '/cache/create')).status).toBe(422);
    for (const init of [{ body: '{}' }, { body: '""' }, {}]) {
      const headers = { 'content-type': 'application/json' };
      const reply = await client.send('POST', '/cache/some/add_docs', { headers, ...init });
      expect(reply).toMatchObject({ status: 422, body: { detail: [body('docs')] } });
    }
    for (const [name, value] of [
      ...[
        ['query', ' '],
        ['query', 'q'.repeat(32_769)],
        ['query', 7],
        ['query', null],
      ],
      ...[
        ['max_tokens', 0],
        ['max_tokens', 32_769],
        ['max_tokens', 1.5],
        ['max_tokens', '7'],
      ],
      ...[
        ['temperature', -0.1],
        ['temperature', 2.1],
        ['temperature', 'hot'],
      ],
    ] as const) {
      const reply = await client.post('/cache/some/query', { query: 'Well?', [name]: value });
      expect([value, reply]).toMatchObject([
        value,
        { status: 422, body: { detail: [{ loc: ['body', name] }] } },
      ]);
    }
    const parameter = await client.send('POST', '/cache/some/query?query=Well&max_tokens=many');
    expect(parameter).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'max_tokens'] }] } });
  });
});

describe('the text of a document', () => {
  test('that was deleted, changed or closed to the owner is never answered from again', async () => {
    const [client, author] = [user('keeper'), user('keeper-author')];
    const deleted = await ingest(client, 'The first code word is amaranth.');
    const changed = await ingest(client, 'The second code word is bergamot.');
    const access_control = { readers: ['keeper'] };
    const closed = await ingest(author, 'The third code word is chicory.', { access_control });
    expect(await create(client, 'words', { filters: {} })).toMatchObject({
      status: 200,
      body: { doc_count: 3 },
    });
    const said = () => completionOf(client, 'words', 'Which are the first, second and third code word?');
    for (const word of ['amaranth', 'bergamot', 'chicory']) expect(await said()).toContain(word);

    expect((await client.delete(`/documents/${deleted}`)).status).toBe(200);
    expect(await said()).not.toContain('amaranth');
    const replaced = await client.put(`/documents/${changed}/content`, {
      content: 'The second code word is dill.',
    });
    expect(replaced.status).toBe(200);
    expect(await said()).not.toContain('bergamot');
    const revoked = await author.patch(`/documents/${closed}`, { access_control: { readers: [] } });
    expect(revoked.status).toBe(200);
    expect(await said()).not.toContain('chicory');

    expect((await client.post('/cache/words/update')).status).toBe(200);
    const answer = await said();
    expect(answer).toContain('dill');
    for (const word of ['amaranth', 'bergamot', 'chicory']) expect(answer).not.toContain(word);
    expect((await client.get('/cache/words')).body).toMatchObject({ doc_count: 1 });

    const again = await client.put(`/documents/${changed}/content`, {
      content: 'The second code word is endive.',
    });
    expect(again.status).toBe(200);
    expect((await client.post('/cache/words/add_docs', { docs: [changed] })).status).toBe(200);
    expect(await said()).toContain('endive');
  });
});

describe('while the worker is away', () => {
  const cacheWorker = async (action: () => Promise<void>) => {
    await service.workers[1]?.kill('SIGTERM');
    try {
      await action();
    } finally {
      service.workers[1] = service.startWorker('cache');
      service.workers.splice(2);
    }
  };
  const later = { Prefer: 'respond-async' };
  const untilBuilt = async (client: Client, name: string) => {
    await until(async () => {
      const { body } = await client.get<Configuration>(`/cache/${name}`);
      return body.status !== 'building';
    }, 30);
  };

  test('builds are 202 and wait; the cache before answers until the new one is ready', async () => {
    const client = user('patient');
    const [one, two] = [
      await ingest(client, 'Version one: walnut.'),
      await ingest(client, 'Version two: pecan.'),
    ];
    expect((await create(client, 'old', { docs: [one] })).status).toBe(200);
    expect((await create(client, 'gone', { docs: [one] })).status).toBe(200);
    const question = { query: 'What are version one and version two?' };
    await cacheWorker(async () => {
      const replacing = await client.post('/cache/create', { name: 'old', ...model, docs: [two] }, later);
      const building = { name: 'old', doc_count: 1, status: 'building', success: true };
      expect(replacing).toMatchObject({ status: 202, body: building });
      expect(replacing.headers.get('preference-applied')).toBe('respond-async');
      expect((await client.get('/cache/old')).body).toMatchObject({ exists: true, status: 'building' });
      expect(await completionOf(client, 'old', question.query)).toContain('walnut');
      const first = await client.post(
        '/cache/create',
        { name: 'new', ...model, docs: [one] },
        { Prefer: 'wait=0' },
      );
      expect(first.status).toBe(202);
      expect(first.headers.get('preference-applied')).toBe('wait=0');
      const early = await client.post('/cache/new/query', question);
      expect(early).toMatchObject({ status: 409, body: { detail: expect.any(String) } });
      expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
      const added = await client.post('/cache/new/add_docs', { docs: [two] }, later);
      expect(added).toMatchObject({ status: 202, body: { success: true, status: 'building' } });
      const both = await client.post('/cache/new/update', {}, { Prefer: 'respond-async, wait=1' });
      expect(both.headers.get('preference-applied')).toBe('respond-async, wait=1');
      expect((await client.post('/cache/gone/update', {}, later)).status).toBe(202);
      expect((await client.delete('/cache/gone')).status).toBe(200);
      expect((await client.get('/cache/gone')).body).toEqual({ exists: false });
    });
    await untilBuilt(client, 'old');
    await untilBuilt(client, 'new');
    expect(await completionOf(client, 'old', question.query)).toContain('pecan');
    expect(await completionOf(client, 'old', question.query)).not.toContain('walnut');
    const answer = await completionOf(client, 'new', question.query);
    expect([answer.includes('walnut'), answer.includes('pecan')]).toEqual([true, true]);
    expect((await client.get('/cache/gone')).body).toEqual({ exists: false });
    expect((await cacheRecords(client)).filter((record) => !record.startsWith('query'))).toEqual([
      ...['create_cache success', 'create_cache success', 'create_cache error superseded'],
      ...['add_docs_to_cache error superseded', 'update_cache error deleted'],
      ...['create_cache success', 'update_cache success'],
    ]);
  }, 60_000);
});
