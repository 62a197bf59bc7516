import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { streamQuery } from '../support/event-stream.js';
import { startFakeOpenAI, type FakeOpenAI } from '../support/fake-openai.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

const KEY = 'sk-key-of-the-provider';
const OPTIONS = JSON.stringify({ apiKey: 'env:SOME_KEY', configuration: { baseURL: 'env:SOME_ADDRESS' } });
const SETTINGS = {
  QUIRE_EMBEDDER: 'langchain',
  QUIRE_EMBEDDING_PROVIDER: '@langchain/openai:OpenAIEmbeddings',
  QUIRE_EMBEDDING_MODEL: 'some-embedding-model',
  QUIRE_EMBEDDING_OPTIONS: OPTIONS,
  QUIRE_EMBEDDING_TIMEOUT_SECONDS: '2',
  // Each search is to ask the provider.
  QUIRE_EMBEDDING_REMEMBER_QUERIES_SECONDS: '0',
  QUIRE_COMPLETER: 'langchain',
  QUIRE_COMPLETION_PROVIDER: '@langchain/openai:ChatOpenAI',
  QUIRE_COMPLETION_MODEL: 'some-chat-model',
  QUIRE_COMPLETION_OPTIONS: OPTIONS,
  QUIRE_COMPLETION_TIMEOUT_SECONDS: '2',
  SOME_KEY: KEY,
};

let provider: FakeOpenAI;
let service: Service;
const env = (more: Record<string, string> = {}) => ({ ...SETTINGS, SOME_ADDRESS: provider.url, ...more });

beforeAll(async () => {
  provider = await startFakeOpenAI({ apiKey: KEY });
  service = await startService({ env: env() });
});
afterEach(() => {
  provider.reset();
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const user = (name: string) => createClient(service.url, name);
const many = (failure: { readonly status: number; readonly headers?: Record<string, string> }) => ({
  failures: Array.from({ length: 1_000 }, () => failure),
});
const ofChat = () => provider.requests.filter(({ path }) => path.endsWith('/chat/completions'));
const statusOf = async (client: Client, id: string) =>
  (await client.get<WireDocument>(`/documents/${id}`)).body.system_metadata.status;

test('texts are embedded, found by their similarity, and completed over', async () => {
  const client = user('reader');
  await client.ingestText('alpha beta gamma delta');
  await client.ingestText('alpha epsilon');
  const { body: found } = await client.searchChunks('alpha beta gamma delta');
  expect(found[0]?.score).toBeCloseTo(1, 5);
  expect(found[1]?.score).toBeCloseTo(1 / Math.sqrt(8), 3);
  provider.configure({ answer: 'It is alpha.', cachedTokens: 9 });
  const asked = { query: 'alpha?', max_tokens: 50, temperature: 0.25 };
  const whole = await client.post('/query', asked);
  const usage = { completion_tokens: 3, prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) };
  expect(whole).toMatchObject({
    status: 200,
    body: { completion: 'It is alpha.', usage, finish_reason: 'stop' },
  });
  expect(ofChat()[0]?.body).toMatchObject({ max_tokens: 50, temperature: 0.25, stream: true });
  const { events } = await streamQuery(service.url, client, { ...asked, max_tokens: 2 });
  expect(events.slice(0, -1).map(({ data }) => data.text)).toEqual(['It', ' is']);
  expect(events.at(-1)).toMatchObject({ data: { type: 'end', finish_reason: 'length' } });
});

describe('a provider in trouble', () => {
  test.each([
    ['500', many({ status: 500 })],
    ['429', many({ status: 429, headers: { 'retry-after': '1' } })],
    ['silent', { failures: Array.from({ length: 8 }, () => ({ kind: 'silence' as const })) }],
  ])('by answers like %s refuses no ingest, which goes on later; searches are 503', async (_name, fault) => {
    const client = user('trouble');
    await client.ingestText('Before it: kumquat.');
    provider.configure(fault);
    const { status, body } = await client.ingestText('During it: persimmon.', {}, { Prefer: 'wait=1' });
    expect(status).toBe(202);
    for (const path of ['/retrieve/chunks', '/query']) {
      const reply = await client.post(path, { query: 'kumquat' });
      expect([path, reply.status, reply.headers.get('retry-after')]).toEqual([
        path,
        503,
        expect.stringMatching(/^\d+$/),
      ]);
    }
    provider.reset();
    await until(async () => (await statusOf(client, body.external_id)) === 'completed');
    expect((await client.searchChunks('persimmon', { k: 1 })).body[0]?.content).toContain('persimmon');
  });

  test('within an answer ends the stream with an error; before it, the answer is a 503', async () => {
    const client = user('broken');
    await client.ingestText('The harbour has three cranes.');
    await client.searchChunks('cranes');
    provider.configure({ stream: 'dropped', answer: 'There are three cranes.' });
    const broken = await streamQuery(service.url, client, { query: 'How many cranes?' });
    expect(broken.events.map(({ name, data }) => name ?? data.type)).toEqual(['token', 'token', 'error']);
    provider.configure({ stream: 'stalled' });
    expect((await client.post('/query', { query: 'How many cranes?' })).status).toBe(503);
  });

  test('that refuses a text fails its document alone', async () => {
    const client = user('refusal');
    provider.configure({ refusedText: 'unspeakable' });
    const [refused, fine] = await Promise.all([
      client.ingestText('An unspeakable text.'),
      client.ingestText('A fine text beside it.'),
    ]);
    expect([refused.status, fine.status]).toEqual([503, 200]);
    const failed = await client.get<WireDocument>(refused.headers.get('location') ?? '');
    expect(failed.body.system_metadata).toMatchObject({ status: 'failed', error: { code: 'provider' } });
  });
});

test('a client who leaves ends the request at the provider', async () => {
  const client = user('leaver');
  await client.ingestText('The lighthouse is white.');
  provider.configure({ answer: 'white '.repeat(200), wordDelayMilliseconds: 50 });
  const leaving = new AbortController();
  const response = await fetch(`${service.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: client.authorization },
    body: JSON.stringify({ query: 'What is white?', stream: true }),
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  await until(() => provider.stats.aborted === 1 && provider.stats.inFlight === 0);
  expect((await client.get('/health')).status).toBe(200);
});

test('nothing that is logged holds a key or a text', async () => {
  const client = user('logged');
  provider.configure(many({ status: 401 }));
  await client.ingestText('A very private sentence.', {}, { Prefer: 'wait=1' });
  await client.post('/query', { query: 'What is very private?' });
  const logged = [service.api, ...service.workers].map((each) => each.output()).join('\n');
  expect(logged).toContain('the provider answered 401');
  expect(logged).not.toMatch(/sk-key-of|private|kumquat|crane/);
});

describe('a start', () => {
  const start = (more: Record<string, string>) =>
    startService({ workers: [], redis: service.redis, dataDirectory: service.dataDirectory, env: env(more) });

  test.each([
    [
      { QUIRE_EMBEDDING_PROVIDER: '@langchain/cohere-not:CohereEmbeddings' },
      'npm install @langchain/cohere-not',
    ],
    [{ QUIRE_EMBEDDING_PROVIDER: '@langchain/openai:ChatOpenAI' }, 'is no Embeddings of LangChain'],
    [{ QUIRE_COMPLETION_PROVIDER: '@langchain/openai:OpenAIEmbeddings' }, 'is no BaseChatModel of LangChain'],
    [{ SOME_KEY: '' }, 'env: names SOME_KEY, which the environment lacks'],
    [{ LANGSMITH_TRACING: 'true' }, 'set completion.tracing = true'],
    [{ QUIRE_EMBEDDING_MODEL: 'another' }, 'was embedded with langchain:@langchain/openai:OpenAIEmbeddings:'],
  ])('is refused with what is wrong: %j', async (more, message) => {
    await expect(start(more)).rejects.toThrow(message);
  });

  test('is refused where the provider mixes up the order of texts', async () => {
    provider.configure({ embeddings: 'shuffled' });
    await expect(start({})).rejects.toThrow('or another order');
  });
});
