import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { streamQuery } from '../support/event-stream.js';
import { startFakeOpenAI, type FakeOpenAI } from '../support/fake-openai.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let provider: FakeOpenAI;
let service: Service;

beforeAll(async () => {
  provider = await startFakeOpenAI();
  service = await startService({
    env: { QUIRE_COMPLETER: 'openai', QUIRE_COMPLETION_BASE_URL: provider.url },
  });
}, 60_000);

afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const user = (name: string) => createClient(service.url, name);

test('a provider has a share of completions of one caller before it, whole, streamed or of caches, and room for others', async () => {
  const [client, other] = [user('greedy'), user('modest')];
  await client.ingestText('The well is nine metres deep.');
  await other.ingestText('The tower is ninety metres high.');
  const cache = { name: 'well', model: 'm', gguf_file: 'f', filters: {} };
  expect((await client.post('/cache/create', cache)).status).toBe(200);
  provider.configure({ latencyMilliseconds: 1_500 });
  const question = 'How deep is the well?';
  const attempts = [
    () => client.post('/query', { query: question }),
    () => streamQuery(service.url, client, { query: question }),
    () => client.post('/cache/well/query', { query: question }),
  ];
  const all = Array.from({ length: 16 }, () => attempts.map((attempt) => attempt())).flat();
  await until(() => provider.stats.inFlight === 32);
  expect((await other.post('/query', { query: 'How high is the tower?' })).status).toBe(200);
  expect(provider.stats.mostInFlight).toBe(33);
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
}, 60_000);
