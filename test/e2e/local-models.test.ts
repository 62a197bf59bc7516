import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { ingestText } from '../support/cache-client.js';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let models: ModelsProcess;
let service: Service;
beforeAll(async () => {
  models = await startModels({ QUIRE_MODELS_TOKEN: 'a-token-between-processes' });
  await models.write('embed.gguf', { kind: 'embedding' });
  await models.write('rank.gguf', { kind: 'ranking' });
  await models.write('chat.gguf', { kind: 'chat' });
  service = await startService({
    env: {
      ...models.env,
      QUIRE_MODELS_TOKEN: 'a-token-between-processes',
      QUIRE_DEV_MODE: 'false',
      QUIRE_EMBEDDER: 'local',
      QUIRE_EMBEDDING_MODEL: 'embed.gguf',
      QUIRE_COMPLETER: 'local',
      QUIRE_COMPLETION_MODEL: 'chat.gguf',
      QUIRE_RERANKER: 'local',
      QUIRE_RERANKING_MODEL: 'rank.gguf',
      QUIRE_RERANKING_DEADLINE_MILLISECONDS: '60000',
    },
  });
});
afterAll(async () => {
  await service.stop();
  await models.stop();
});

const user = (name: string) => createClient(service.url, name);

interface Chunk {
  readonly content: string;
  readonly score: number;
}

test('documents are embedded by the local model and found by their vectors, without any words in common', async () => {
  const ann = user('ann');
  const texts = ['zebra stripes', 'harbour crane', 'winter apples'];
  for (const text of texts) await ingestText(ann, text);
  const { status, body } = await ann.post<Chunk[]>('/retrieve/chunks', { query: 'harbour crane', k: 3 });
  expect(status).toBe(200);
  expect(body[0]).toMatchObject({ content: 'harbour crane' });
  expect(body[0]?.score).toBeCloseTo(1, 3);
  const other = await ann.post<Chunk[]>('/retrieve/chunks', { query: 'unseen words only', k: 3 });
  expect(other.body).toHaveLength(3);
  const hybrid = await ann.post<Chunk[]>('/retrieve/chunks', {
    query: 'harbour crane',
    k: 3,
    ranking: 'hybrid',
  });
  expect(hybrid.body[0]).toMatchObject({ content: 'harbour crane' });
});

test('hits are reranked by the local model', async () => {
  const ben = user('ben');
  for (const text of ['one thing', 'another thing', 'the third thing']) await ingestText(ben, text);
  const request = { query: 'which thing?', k: 3 };
  const asked = await ben.post<Chunk[]>('/retrieve/chunks', { ...request, rerank: true });
  expect(asked.status).toBe(200);
  expect(asked.headers.get('quire-rerank')).toBe('applied');
  const documents = asked.body.map(({ content }) => content);
  const direct = await fetch(`${models.url}/v1/rerank`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer a-token-between-processes',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'rank.gguf', query: request.query, documents }),
  });
  const { results } = (await direct.json()) as { results: { index: number; relevance_score: number }[] };
  expect(asked.body.map(({ score }) => score)).toEqual(results.map(({ relevance_score: score }) => score));
});

test('questions are answered by the local model, with honest counts', async () => {
  const cleo = user('cleo');
  await ingestText(cleo, 'Everything about bridges.');
  const { status, body } = await cleo.post<{
    finish_reason: string;
    usage: { completion_tokens: number; prompt_tokens: number };
  }>('/query', { query: 'What about bridges?', max_tokens: 9 });
  expect(status).toBe(200);
  expect(body.finish_reason).toBe('length');
  expect(body.usage.completion_tokens).toBe(9);
  expect(body.usage.prompt_tokens).toBeGreaterThan(100);
});

test('a prompt that has more tokens for the model than for us is made shorter, and its sources with it', async () => {
  const dora = user('dora');
  // The tiny model has a token for each byte, which is four times what we count.
  for (let n = 0; n < 8; n += 1)
    await ingestText(dora, `Page ${String(n)} about bridges: ${'many plain words follow here '.repeat(30)}`);
  const { status, body } = await dora.post<{ sources: unknown[]; usage: { prompt_tokens: number } }>(
    '/query',
    {
      query: 'What about bridges?',
      k: 8,
      max_tokens: 8,
    },
  );
  expect({ status, body }).toMatchObject({ status: 200 });
  expect(body.sources.length).toBeGreaterThan(0);
  expect(body.sources.length).toBeLessThan(8);
  expect(body.usage.prompt_tokens).toBeLessThan(4_096);
});

test('while the models process is away, searches are answered 503, and nothing that was accepted is lost', async () => {
  const emil = user('emil');
  await ingestText(emil, 'before the fall');
  models.process.child.kill('SIGKILL');
  const { status, headers } = await emil.post('/retrieve/chunks', { query: 'a query never asked before' });
  expect(status).toBe(503);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  const accepted = await emil.post<{ external_id: string }>(
    '/ingest/text',
    { content: 'during the fall' },
    { prefer: 'wait=0' },
  );
  expect(accepted.status).toBe(202);
  await models.restart('SIGKILL');
  await until(async () => {
    const { body } = await emil.get<{ status: string }>(`/documents/${accepted.body.external_id}/status`);
    return body.status === 'completed';
  });
  const found = await emil.post<Chunk[]>('/retrieve/chunks', { query: 'during the fall', k: 1 });
  expect(found.body[0]).toMatchObject({ content: 'during the fall' });
});
