import { describe, expect, test } from '@jest/globals';
import {
  cacheCompletion,
  cacheOperations,
  createCache,
  ingestText,
  someModel,
  type CacheAnswer,
  type CacheConfiguration,
} from '../support/cache-client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: EVERYDAY });

const user = service.client;

describe('what goes into a cache', () => {
  test('is what filters select, what is listed, or both together', async () => {
    const [client, friend] = [user('chooser'), user('chooser-friend')];
    const red = await ingestText(client, 'A red kite.', { metadata: { color: 'red' } });
    await ingestText(client, 'A blue kite.', { metadata: { color: 'blue' } });
    await ingestText(friend, 'A secret red kite.', { metadata: { color: 'red' } });
    const access_control = { readers: [service.caller('chooser')] };
    await ingestText(friend, 'A shared red kite.', { metadata: { color: 'red' }, access_control });
    const counted = async (selection: Record<string, unknown>) => {
      const { status, body } = await createCache(client, 'kites', selection);
      expect(status).toBe(200);
      return body;
    };
    expect(await counted({ filters: { color: 'red' } })).toMatchObject({ doc_count: 2 });
    expect(await counted({ docs: [red, red] })).toMatchObject({ doc_count: 1 });
    expect(await counted({ docs: [red], filters: null })).not.toHaveProperty('filters');
    expect(await counted({ docs: [red], filters: { color: 'blue' } })).toMatchObject({ doc_count: 2 });
    expect(await counted({ filters: {}, docs: null })).toMatchObject({ doc_count: 3, filters: {} });
    expect(await cacheCompletion(client, 'kites', 'Which kite is secret?')).not.toContain('secret');
  });

  test('must be known, readable, completed, and something', async () => {
    const [client, stranger] = [user('picky'), user('picky-stranger')];
    const mine = await ingestText(client, 'Mine.', { metadata: { kind: 'text' } });
    const theirs = await ingestText(stranger, 'Theirs.');
    const { headers } = await client.ingestFile(Buffer.from('  \n '), 'blank.txt');
    const failed = headers.get('location')?.split('/').at(-1) ?? '';
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const docs of [[unknown], [mine, unknown], [theirs], ['no id at all']]) {
      expect(await createCache(client, 'refused', { docs })).toMatchObject({
        status: 404,
        body: { detail: 'Document not found' },
      });
    }
    expect((await createCache(client, 'refused', { docs: [mine, failed] })).status).toBe(409);
    for (const nothing of [
      {},
      { docs: null, filters: null },
      { docs: [] },
      { filters: { kind: 'none' } },
      { docs: [], filters: { kind: 'none' } },
    ]) {
      expect(await createCache(client, 'refused', nothing)).toMatchObject({
        status: 400,
        body: { detail: 'No documents to add to cache' },
      });
    }
    const wrong = await createCache(client, 'refused', { filters: { kind: { $like: 'x' } } });
    expect(wrong).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'filters', 'kind', '$like'] }] },
    });
    expect((await client.get('/cache/refused')).body).toEqual({ exists: false });
    // Documents that filters match and that are not completed are left out.
    expect(await createCache(client, 'kept', { filters: {} })).toMatchObject({
      status: 200,
      body: { doc_count: 1 },
    });
    for (const docs of [[unknown], [theirs]]) {
      expect((await client.post('/cache/kept/add_docs', { docs })).status).toBe(404);
    }
    expect((await client.post('/cache/kept/add_docs', { docs: [failed] })).status).toBe(409);
    expect((await client.get('/cache/kept')).body).toMatchObject({ doc_count: 1, status: 'ready' });
    expect(await cacheOperations(client)).toEqual(['create_cache success']);
  });

  test('must fit the window of the model: else 400 with both numbers, and the one before stays', async () => {
    const client = user('long');
    const small = await ingestText(client, 'The small one says: periwinkle.', {
      metadata: { size: 'small' },
    });
    const text = Array.from({ length: 400 }, (_, i) => `Entry ${String(i)} of the long list.`).join(' ');
    const large = await ingestText(client, text, { metadata: { size: 'large' } });
    expect((await createCache(client, 'fits', { docs: [small] })).status).toBe(200);
    for (const reply of [
      await createCache(client, 'fits', { docs: [large] }),
      await createCache(client, 'fits', { filters: { size: 'large' } }),
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
    expect(await cacheCompletion(client, 'fits', 'What does the small one say?')).toContain('periwinkle');
    const later = { name: 'never', ...someModel, docs: [large] };
    // A quick worker may have refused it before it is answered.
    const asked = await client.post('/cache/create', later, { Prefer: 'respond-async' });
    expect([202, 400]).toContain(asked.status);
    await until(async () => (await client.get<CacheConfiguration>('/cache/never')).body.status === 'failed');
    expect((await client.get('/cache/never')).body).toMatchObject({
      error: expect.stringContaining('2048'),
      error_code: 'too_large',
    });
    const early = await client.post('/cache/never/query', { query: 'Well?' });
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, expect.stringMatching(/^\d+$/)]);
    const question = `${text} Why?`;
    expect((await client.post('/cache/fits/query', { query: question })).status).toBe(400);
    expect(await cacheOperations(client)).toEqual(['create_cache success', 'query_cache success']);
  });
});

test('are not read further than the model could, whatever their tokens are', async () => {
  const client = user('rows');
  const dashes = `${'-'.repeat(127)}\n`.repeat(400);
  const rows = await ingestText(client, `Rows of dashes.\n${dashes}`);
  const reply = await createCache(client, 'rows', { docs: [rows] });
  expect(reply.status).toBe(400);
  expect(reply.body.detail).toBe(
    'The selected documents have more than 32768 characters, the model reads 2048 tokens',
  );
});

describe('what clients send', () => {
  test('comes from the JSON body or, where missing there, from the query string', async () => {
    const client = user('sender');
    await ingestText(client, 'There are eleven oars in the boathouse.');
    const place = new URLSearchParams({ name: 'oars', ...someModel });
    const created = await client.post(`/cache/create?${place.toString()}`, { filters: {}, docs: null });
    expect(created).toMatchObject({ status: 200, body: { name: 'oars', ...someModel, doc_count: 1 } });
    const other = await client.post('/cache/create?name=other', {
      name: 'paddles',
      ...someModel,
      filters: {},
    });
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
      const reply = await client.send<CacheAnswer>('POST', asked, init);
      expect(reply).toMatchObject({ status: 200, body: { finish_reason: 'stop' } });
      expect(reply.body.completion).toContain('eleven oars');
    }
    const short = await client.send('POST', `${asked}&max_tokens=4&temperature=0.5`, {
      headers: type,
      body: '""',
    });
    expect(short).toMatchObject({ status: 200, body: { finish_reason: 'length' } });
    // Some HTTP libraries send an empty parameter for one that the client leaves out.
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
      ['query', ' '],
      ['query', 'q'.repeat(32_769)],
      ['query', 7],
      ['query', null],
      ['max_tokens', 0],
      ['max_tokens', 32_769],
      ['max_tokens', 1.5],
      ['max_tokens', '7'],
      ['temperature', -0.1],
      ['temperature', 2.1],
      ['temperature', 'hot'],
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
