import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService({ workers: ['embedding', 'ingestion', 'cache,usage,maintenance'] });
  // The others alone have to do, until the second test.
  await service.workers[0]?.kill('SIGTERM');
  client = createClient(service.url);
});
afterAll(() => service.stop());

const read = async (id: string) => (await client.get<WireDocument>(`/documents/${id}`)).body.system_metadata;

test('a small file and new content of a short text are published by the worker that reads them', async () => {
  const file = await client.ingestFile(Buffer.from('# Otters\n\nThey sleep on their backs.'), 'otters.md');
  expect(await read(file.body.external_id)).toMatchObject({ status: 'completed', version: 1 });
  const { status } = await client.send('PUT', `/documents/${file.body.external_id}/content`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Herons stand in the reeds.' }),
  });
  expect(status).toBe(200);
  expect(await read(file.body.external_id)).toMatchObject({ status: 'completed', version: 2 });
  const found = await client.searchChunks('herons');
  expect(found.body.map(({ content }) => content)).toEqual(['Herons stand in the reeds.']);
});

test('a file of many chunks is published once a worker embeds', async () => {
  const words = Array.from({ length: 40_000 }, (_, n) => `word${String(n % 700)}`).join(' ');
  const file = await client.ingestFile(Buffer.from(words), 'words.txt', {
    prefer: 'respond-async',
  });
  const stage = async () => (await read(file.body.external_id)).stage;
  await until(async () => (await stage()) === 'embedding');
  service.startWorker('embedding');
  await until(async () => (await read(file.body.external_id)).status === 'completed', 60);
});
