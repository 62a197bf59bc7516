import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { endOf } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let client: Client;
let elsewhere: string;
let refusedApi: Promise<Service>;

beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'quire-elsewhere-'));
  service = await startService();
  client = createClient(service.url);
});

afterAll(async () => {
  await service.stop();
  await rm(elsewhere, { recursive: true, force: true });
});

const advice = expect.stringMatching(/source files elsewhere.*shared volume.*"s3"/);

test('a worker with a folder of its own is refused, one that needs no files is not, and the service goes on', async () => {
  const env = { QUIRE_DATA_DIR: elsewhere };
  // It takes its time to be sure, as the worker does.
  refusedApi = startService({ redis: service.redis, workers: [], dataDirectory: elsewhere });
  refusedApi.catch(() => undefined);
  const wrong = service.startWorker('ingestion,embedding', env);
  const harmless = service.startWorker('embedding', env);
  for (let number = 0; number < 20; number += 1) {
    const { status } = await client.ingestText(`Finch number ${String(number)} sings.`);
    expect(status).toBe(200);
  }
  expect(await endOf(wrong)).toEqual([78, advice]);
  expect(harmless.child.exitCode).toBeNull();
  expect((await client.get('/health/ready')).status).toBe(200);
  await harmless.kill('SIGTERM');
  expect(harmless.child.exitCode).toBe(0);
  service.workers.splice(-2);
});

test('an API with a folder of its own is refused while another lives', async () => {
  await expect(refusedApi).rejects.toThrow(/another API keeps source files elsewhere.*shared volume.*"s3"/);
});

test('a worker whose API comes back with another folder ends, and takes no file for lost', async () => {
  const [old] = service.workers;
  if (!old) throw new Error('no worker');
  await service.startApi({ QUIRE_DATA_DIR: elsewhere });
  // It may come once the announcement of the one before it is over.
  await until(async () => (await client.get('/health/ready').catch(() => null))?.status === 200);
  const { body } = await client.ingestText('A siskin hangs.', {}, { prefer: 'respond-async' });
  expect(await endOf(old)).toEqual([78, advice]);
  const status = async () =>
    (await client.get<WireDocument>(`/documents/${body.external_id}`)).body.system_metadata.status;
  expect(['queued', 'processing']).toContain(await status());
  service.startWorker(undefined, { QUIRE_DATA_DIR: elsewhere });
  service.workers.shift();
  await until(async () => (await status()) === 'completed');
});
