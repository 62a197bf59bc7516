import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { startFakeOpenAI, type FakeOpenAI } from '../support/fake-openai.js';
import { startService, type Service, type StartedProcess } from '../support/service.js';
import { until } from '../support/until.js';

/** Ends a worker as running out of memory would, when it sends a poisonous text to the model. */
const POISONED = `
const { fetch } = globalThis;
globalThis.fetch = (url, init) => {
  if (String(init?.body).includes('poison')) process.kill(process.pid, 'SIGKILL');
  return fetch(url, init);
};`;
const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(POISONED)}`];

let provider: FakeOpenAI;
let service: Service;
let client: Client;
beforeAll(async () => {
  // Slow enough that other documents are in hand when the poisonous one kills.
  provider = await startFakeOpenAI({ latencyMilliseconds: 200 });
  service = await startService({
    workers: ['ingestion,cache,usage,maintenance', 'embedding'],
    env: { QUIRE_EMBEDDER: 'openai', QUIRE_EMBEDDING_BASE_URL: provider.url },
    execArgv,
  });
  client = createClient(service.url);
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const hasEnded = ({ child }: StartedProcess) => child.exitCode !== null || child.signalCode !== null;

const read = async (id: string) => (await client.get<WireDocument>(`/documents/${id}`)).body.system_metadata;

test('a document that kills its worker three times fails, and those beside it are completed', async () => {
  const ingest = async (text: string) => {
    const { status, body } = await client.ingestText(text, {}, { prefer: 'respond-async' });
    expect(status).toBe(202);
    return body.external_id;
  };
  const innocent: string[] = [];
  for (let n = 0; n < 4; n += 1) innocent.push(await ingest(`a text about ships and harbour ${String(n)}`));
  const poisonous = await ingest('a text full of poison');
  for (let n = 4; n < 8; n += 1) innocent.push(await ingest(`a text about ships and harbour ${String(n)}`));

  let deaths = 0;
  const end = Date.now() + 150_000;
  while (Date.now() < end && deaths < 6) {
    await sleep(100);
    if ((await read(poisonous)).status === 'failed') break;
    if (!service.workers.some(hasEnded)) continue;
    deaths += 1;
    service.workers.splice(service.workers.findIndex(hasEnded), 1);
    service.startWorker('embedding');
  }
  expect(await read(poisonous)).toMatchObject({
    status: 'failed',
    error: {
      code: 'internal',
      message:
        'The document could not be processed: the worker ended abnormally or stopped answering 3 times during it',
    },
  });
  expect(deaths).toBe(3);
  await until(async () =>
    (await Promise.all(innocent.map(read))).every(({ status }) => status === 'completed'),
  );

  // It is tried again when its owner asks for it, and the count begins anew.
  expect((await client.post(`/documents/${poisonous}/retry`, {}, { prefer: 'respond-async' })).status).toBe(
    202,
  );
  await until(() => Promise.resolve(service.workers.some(hasEnded)));
  expect((await read(poisonous)).status).toBe('processing');
}, 240_000);

test('in a batch it fails alone: those of its group are completed', async () => {
  const documents = Array.from({ length: 12 }, (_, n) => ({
    content: n === 7 ? 'a batch full of poison' : `a batch of ships and harbours ${String(n)}`,
  }));
  const prefer = 'respond-async';
  const { status, body } = await client.post<{ document_id: string }[]>(
    '/ingest/batch',
    { documents },
    { prefer },
  );
  expect(status).toBe(202);
  const ids = body.map(({ document_id: id }) => id);
  const statuses = () => Promise.all(ids.map(async (id) => (await read(id)).status));
  const end = Date.now() + 150_000;
  while (Date.now() < end && (await statuses()).some((each) => each === 'queued' || each === 'processing')) {
    await sleep(100);
    if (!service.workers.some(hasEnded)) continue;
    service.workers.splice(service.workers.findIndex(hasEnded), 1);
    service.startWorker('embedding');
  }
  expect(await statuses()).toEqual(ids.map((_, n) => (n === 7 ? 'failed' : 'completed')));
}, 240_000);

test('a text for which the provider always fails does not hold up those of its group', async () => {
  provider.configure({ failingText: 'unspeakable' });
  const documents = Array.from({ length: 12 }, (_, n) => ({
    content: n === 5 ? 'an unspeakable text' : `a text beside it ${String(n)}`,
  }));
  const prefer = 'respond-async';
  const { body } = await client.post<{ document_id: string }[]>('/ingest/batch', { documents }, { prefer });
  const ids = body.map(({ document_id: id }) => id);
  const statuses = () => Promise.all(ids.map(async (id) => (await read(id)).status));
  await until(async () => (await statuses()).filter((status) => status === 'completed').length === 11);
  expect((await statuses())[5]).not.toBe('completed');
  // It waits for the provider, as a text alone would.
  provider.configure({ failingText: null });
  await until(async () => (await statuses())[5] === 'completed');
}, 240_000);
