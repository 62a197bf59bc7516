import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingestText, type CacheAnswer } from '../support/cache-client.js';
import { createClient } from '../support/client.js';
import { streamQuery } from '../support/event-stream.js';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let models: ModelsProcess;
let service: Service;
beforeAll(async () => {
  models = await startModels();
  await models.write('chat.gguf', { kind: 'chat' });
  service = await startService({
    env: { ...models.env, QUIRE_DEV_MODE: 'false', QUIRE_COMPLETION_TIMEOUT_SECONDS: '6' },
  });
});
afterAll(async () => {
  await service.stop();
  await models.stop();
});

type Answer = CacheAnswer & { readonly tokens_reused: number };
type Client = ReturnType<typeof createClient>;

const text = 'Everything about harbours and cranes. '.repeat(12);

async function makeCache(client: Client, name: string): Promise<number> {
  const docs = [await ingestText(client, text)];
  const request = { name, model: 'label', gguf_file: 'chat.gguf', docs };
  const { status, body } = await client.post<{ engine: string; token_count: number }>(
    '/cache/create',
    request,
  );
  expect({ status, body }).toMatchObject({ status: 200, body: { engine: 'llama' } });
  return body.token_count;
}

const asked = { query: 'What is it about?', max_tokens: 1_500 };

test('kill -9 in the middle of answers: an error and no wrong text, and the next one begins from the saved state', async () => {
  const ann = createClient(service.url, 'ann');
  const tokens = await makeCache(ann, 'port');
  const { body: right } = await ann.post<Answer>('/cache/port/query', asked);
  expect(right.usage.completion_tokens).toBe(1_500);

  const pieces: string[] = [];
  const response = await fetch(`${service.url}/cache/port/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: ann.authorization },
    body: JSON.stringify({ ...asked, stream: true }),
  });
  const reading = (async () => {
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString('utf8'));
  })();
  const whole = ann.post<{ detail: string }>('/cache/port/query', asked);
  await until(() => pieces.some((piece) => piece.includes('"token"')));
  await models.process.kill('SIGKILL');
  await reading;
  expect(response.status).toBe(200);
  const events = pieces
    .join('')
    .split('\n\n')
    .filter((block) => /^(?:event|data):/.test(block));
  expect(events.at(-1)).toMatch(/^event: error\ndata: \{"type":"error","status":503,"detail":"/);
  const come = events
    .slice(0, -1)
    .map((block) => (JSON.parse(block.replace(/^data: /, '')) as { text: string }).text)
    .join('');
  expect(come.length).toBeGreaterThan(0);
  expect(come.length).toBeLessThan(right.completion.length);
  expect(right.completion.startsWith(come)).toBe(true);
  const failed = await whole;
  expect({ status: failed.status, body: failed.body }).toEqual({
    status: 503,
    body: { detail: expect.stringContaining('unavailable') },
  });
  expect(Number(failed.headers.get('retry-after'))).toBeGreaterThan(0);

  await models.restart('SIGKILL');
  // Loaded here, which may take longer than an answer may.
  const other = [{ role: 'user', content: 'Hello' }];
  await models.post('/v1/chat/completions', { model: 'chat.gguf', messages: other, max_tokens: 1 });
  const { status, body } = await ann.post<Answer>('/cache/port/query', asked);
  expect(status).toBe(200);
  expect(body.completion).toBe(right.completion);
  expect(body.tokens_reused).toBeGreaterThanOrEqual(tokens - 64);
  const { body: stats } = await ann.get<{ status: string; operation_type: string }[]>('/usage/recent');
  const queries = stats.filter(({ operation_type: type }) => type === 'query_cache');
  expect(queries.map(({ status: how }) => how).sort()).toEqual(['error', 'error', 'success', 'success']);
});

test('a models process that hangs: 503 in bounded time, and what was accepted is done when it goes on', async () => {
  const ben = createClient(service.url, 'ben');
  await makeCache(ben, 'kept');
  const docs = [await ingestText(ben, text)];
  models.process.child.kill('SIGSTOP');
  const begun = performance.now();
  const created = { name: 'new', model: 'label', gguf_file: 'chat.gguf', docs };
  const answers = await Promise.all([
    ben.post('/cache/create', created),
    ben.post('/cache/kept/query', asked),
    streamQuery(service.url, ben, asked, '/cache/kept/query'),
    ben.post('/cache/kept/update', {}, { prefer: 'wait=0' }),
  ]);
  // The time limit of an answer, and that of a question about the model, with much to spare.
  expect(performance.now() - begun).toBeLessThan(60_000);
  const [create, query, stream, update] = answers;
  for (const { status, headers } of [create, query]) {
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(stream.status === 503 || stream.events.at(-1)?.name === 'error').toBe(true);
  expect(update.status).toBe(202);
  models.process.child.kill('SIGCONT');
  await until(async () => {
    const { body } = await ben.get<{ status: string; error?: string }>('/cache/kept');
    return body.status === 'ready' && body.error === undefined;
  });
  expect(await ben.post('/cache/kept/query', { query: 'What?', max_tokens: 3 })).toMatchObject({
    status: 200,
  });
});

test('a model that can never be loaded: 400 with the reason, and no build that is tried for ever', async () => {
  const cleo = createClient(service.url, 'cleo');
  const docs = [await ingestText(cleo, text)];
  await models.restart('SIGTERM', {
    QUIRE_MODELS_MEMORY_MEGABYTES: '64',
    QUIRE_MODELS_CONVERSATIONS: '64',
  });
  const created = { name: 'vast', model: 'label', gguf_file: 'chat.gguf', docs };
  const { status, body } = await cleo.post<{ detail: string }>('/cache/create', created, {
    prefer: 'wait=60',
  });
  expect({ status, body }).toEqual({
    status: 400,
    body: { detail: expect.stringMatching(/^gguf_file: the model takes about \d+ MB/) },
  });
  await models.restart('SIGTERM');
  expect(await cleo.post('/cache/create', created)).toMatchObject({ status: 200 });
});
