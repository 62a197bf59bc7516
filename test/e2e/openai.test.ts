import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import type { Client } from '../support/client.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: GUARDED });
const user = service.client;

interface Answer {
  readonly choices: readonly [{ readonly message: { readonly content: string } }];
  readonly sources: readonly { readonly document_id: string }[];
}
const errorSchema = z.object({
  error: z
    .object({
      message: z.string().min(1),
      type: z.string().min(1),
      param: z.string().nullable(),
      code: z.string().nullable(),
    })
    .strict(),
});

const question = [{ role: 'user', content: 'How many steps has the tower?' }];
const chat = (client: Client, more: Record<string, unknown> = {}) =>
  client.post<Answer>('/v1/chat/completions', { model: 'quire', messages: question, ...more });
const errorOf = (body: unknown) => errorSchema.parse(body).error;

describe('every failure below /v1', () => {
  const json = (body: unknown, headers: Record<string, string> = {}) => ({
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  const path = '/v1/chat/completions';
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  test.each([
    ['no token', 401, '/v1/models', { headers: { authorization: 'Bearer nonsense' } }, 'invalid_api_key'],
    ['an unknown path', 404, '/v1/engines', {}, 'not_found'],
    ['a path that cannot be decoded', 404, '/v1/models/%ff', {}, 'not_found'],
    ['another method', 405, '/v1/models', { method: 'DELETE' }, 'method_not_allowed'],
    ['another type', 415, path, { method: 'POST', body: 'text' }, null],
    ['no JSON', 400, path, json('{'), 'invalid_value'],
    ['JSON that is too deep', 400, path, json(deep), 'invalid_value'],
    ['no body', 400, path, { method: 'POST' }, 'missing_required_parameter'],
    ['a body that is too large', 413, path, json(`"${'x'.repeat(7_900_000)}"`), null],
  ] as const)('has the form that clients print: %s', async (...[, status, place, init, code]) => {
    const headers = { authorization: user('refused').authorization, ...('headers' in init && init.headers) };
    const response = await fetch(service.url + place, { ...init, headers });
    expect(response.status).toBe(status);
    expect(errorOf(await response.json()).code).toBe(code);
  });

  test.each([
    [{ model: 'quire' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'system', content: 'x' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: '   ' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'user', content: [7] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'user', content: 'a'.repeat(40_000) }] }, 'messages'],
    [{ temperature: 3 }, 'temperature'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ n: 2 }, 'n'],
    [{ response_format: { type: 'json_object' } }, 'response_format'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ filters: { $gta: 1 } }, 'filters.$gta'],
    [{ stream: 'yes' }, 'stream'],
    [{ k: 1e9 }, 'k'],
  ])('names the field that is wrong: %j', async (fields, param) => {
    const body: Record<string, unknown> = { model: 'quire', messages: question, ...fields };
    if (!('messages' in fields) && param === 'messages') delete body['messages'];
    const { status, body: answer } = await user('wrong').post('/v1/chat/completions', body);
    expect([status, errorOf(answer).param]).toEqual([400, param]);
  });

  test('names what is misspelt where a request is strict', async () => {
    const strict = { Prefer: 'handling=strict' };
    const sent = { model: 'quire', messages: question, temprature: 1 };
    const { status, body } = await user('wrong').post('/v1/chat/completions', sent, strict);
    expect(status).toBe(400);
    expect(errorOf(body)).toMatchObject({ param: 'temprature', code: 'unknown_parameter' });
    expect(errorOf(body).message).toContain("did you mean 'temperature'?");
    const known = { model: 'quire', messages: question, seed: 7, tools: [], stop: ['x'], user: 'u' };
    expect((await user('wrong').post('/v1/chat/completions', known, strict)).status).toBe(200);
  });

  test('leaves the errors of other paths as they are', async () => {
    expect((await user('wrong').get('/v1x')).body).toEqual({ detail: expect.stringMatching(/^Not Found/) });
  });
});

describe('/v1/chat/completions', () => {
  test('answers from what the caller may read alone, and from what filters and names leave of it', async () => {
    const [alice, bob] = [user('alice'), user('bob')];
    const { body: document } = await alice.ingestText('The tower has 294 steps.', {
      metadata: { at: 'hall' },
    });
    const found = await chat(alice);
    expect(found.body.sources.map(({ document_id: id }) => id)).toEqual([document.external_id]);
    expect((await chat(alice, { filters: { at: 'park' } })).body.sources).toEqual([]);
    expect((await chat(alice, { model: 'quire/own' })).body.sources).toHaveLength(1);
    expect((await chat(bob)).body.sources).toEqual([]);
    await alice.patch(`/documents/${document.external_id}`, {
      access_control: { readers: [service.caller('bob')] },
    });
    expect((await chat(bob)).body.sources).toHaveLength(1);
    expect((await chat(bob, { model: 'quire/own' })).body.sources).toEqual([]);
    const unknown = await chat(bob, { model: 'quire/hall' });
    expect([unknown.status, errorOf(unknown.body).code]).toEqual([404, 'model_not_found']);
  });

  test('answers from a cache of the caller, and knows none of others', async () => {
    const [owner, other] = [user('owner'), user('other')];
    await owner.ingestText('The tower has 294 steps.');
    await owner.post('/cache/create', { name: 'tower', model: 'm', gguf_file: 'none', filters: {} });
    const model = 'quire/cache/tower';
    expect((await chat(owner, { model })).body.choices[0].message.content).toContain('294 steps');
    expect((await owner.get(`/v1/models/${encodeURIComponent(model)}`)).body).toMatchObject({ id: model });
    const narrowed = await chat(owner, { model, filters: { floor: 3 } });
    expect([narrowed.status, errorOf(narrowed.body).param]).toEqual([400, 'filters']);
    const [foreign, missing] = [await chat(other, { model }), await chat(owner, { model: 'quire/cache/x' })];
    expect([foreign.status, missing.status]).toEqual([404, 404]);
    expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(missing.body).replace("'x'", "'tower'"));
    expect((await other.get(`/v1/models/${encodeURIComponent(model)}`)).status).toBe(404);
    expect(JSON.stringify((await other.get('/v1/models')).body)).not.toContain('tower');
  });

  test('finds what a short question is about in the question before it', async () => {
    const client = user('follower');
    await client.ingestText('In summer the museum opens at nine.', { filename: 'museum.txt' });
    await client.ingestText('In summer the bakery opens at six.', { filename: 'bakery.txt' });
    const first = { role: 'user', content: 'When does the bakery open in winter?' };
    const said = [
      first,
      { role: 'assistant', content: 'I do not know.' },
      { role: 'user', content: 'In summer?' },
    ];
    const { body } = await chat(client, { messages: said, k: 1 });
    expect(body.choices[0].message.content).toContain('bakery opens at six');
  });
});

describe('/v1/embeddings', () => {
  const { model } = createBuiltinEmbedder();
  const embed = (input: unknown, more: Record<string, unknown> = {}) =>
    user('embedder').post<{ readonly data: readonly { readonly embedding: unknown }[] }>('/v1/embeddings', {
      model,
      input,
      ...more,
    });

  test.each([
    [[1, 2, 3], 'input[0]'],
    [[[1, 2], [3]], 'input[0]'],
    [['a', ''], 'input[1]'],
    [[], 'input'],
    ['', 'input'],
    [7, 'input'],
    ['a'.repeat(70_000), 'input'],
    [Array.from({ length: 2_049 }, () => 'a'), 'input'],
    [Array.from({ length: 300 }, () => 'a'), 'input'],
    [Array.from({ length: 20 }, () => 'a'.repeat(60_000)), 'input'],
  ])('refuses other input than texts within its bounds: %#', async (input, param) => {
    const { status, body } = await embed(input);
    expect([status, errorOf(body).param]).toEqual([400, param]);
  });

  test('refuses other models, lengths and encodings', async () => {
    expect((await embed('a', { model: 'text-embedding-3-small' })).status).toBe(404);
    expect(errorOf((await embed('a', { dimensions: 256 })).body).param).toBe('dimensions');
    expect(errorOf((await embed('a', { encoding_format: 'hex' })).body).param).toBe('encoding_format');
    expect((await embed('a', { dimensions: 1_024, model: 'quire' })).status).toBe(200);
  });

  test('takes two thousand texts in base64, and counts as one operation', async () => {
    const input = Array.from({ length: 2_000 }, (_, number) => `The tower has ${String(number)} steps.`);
    const { status, body } = await embed(input, { encoding_format: 'base64' });
    expect([status, body.data.length]).toEqual([200, 2_000]);
    const { vectors } = await createBuiltinEmbedder().embedDocuments([input[1_999] ?? '']);
    const bytes = Buffer.from(String(body.data[1_999]?.embedding), 'base64');
    expect([...new Float32Array(new Uint8Array(bytes).buffer)]).toEqual([...(vectors[0] ?? [])]);
    const recent = await user('embedder').get<readonly unknown[]>(
      '/usage/recent?operation_type=embed&limit=1',
    );
    expect(recent.body).toMatchObject([{ status: 'success', metadata: { texts: 2_000 } }]);
  });

  test('needs the permission to read', async () => {
    const writer = user('writer', ['write']);
    const { status, body } = await writer.post('/v1/embeddings', { model, input: 'a' });
    expect([status, errorOf(body).type]).toEqual([403, 'permission_error']);
  });
});
