import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { endOf } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let client: Client;
let elsewhere: string;
let refusedApi: Promise<Service>;
/** Another service, whose API comes back with another folder. */
let moved: Service;
let movedClient: Client;
let movedTo: string;
/** The document that the moved service was given since. */
let siskin: WireDocument;

/** The API to be moved is, so that its worker becomes sure while those of the other service do. */
beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), 'quire-elsewhere-'));
  movedTo = await mkdtemp(join(tmpdir(), 'quire-moved-'));
  [service, moved] = await Promise.all([startService(), startService()]);
  client = createClient(service.url);
  movedClient = createClient(moved.url);
  await moveApi();
  await until(async () => (await movedClient.get('/health/ready').catch(() => null))?.status === 200);
  // A shorter text would need no file.
  const text = 'A siskin hangs. '.repeat(1_000);
  siskin = (await movedClient.ingestText(text, {}, { prefer: 'respond-async' })).body;
});

afterAll(async () => {
  await Promise.all([service.stop(), moved.stop()]);
  for (const folder of [elsewhere, movedTo]) await rm(folder, { recursive: true, force: true });
});

async function moveApi(): Promise<void> {
  await moved.startApi({ QUIRE_DATA_DIR: movedTo });
  // It may come once the announcement of the one before it is over, of which a quarter of a minute is left.
  const redis = createRedis(moved.redis.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  await redis.pExpire(keys.storageMarkerAnnounced, 1);
  redis.destroy();
}

const advice = expect.stringMatching(/source files elsewhere.*shared volume.*"s3"/);

test('a worker with a folder of its own is refused, one that needs no files is not, and the service goes on', async () => {
  const env = { QUIRE_DATA_DIR: elsewhere };
  // It takes its time to be sure, as the worker does.
  refusedApi = startService({ redis: service.redis, workers: [], dataDirectory: elsewhere });
  refusedApi.catch(() => undefined);
  const wrong = service.startWorker('ingestion,embedding', env);
  const harmless = service.startWorker('embedding', env);
  for (let number = 0; number < 20; number += 1) {
    const { status } = await client.ingestText(`Finch number ${String(number)} sings. `.repeat(400));
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
  const [old] = moved.workers;
  if (!old) throw new Error('no worker');
  const { external_id: id } = siskin;
  expect(await endOf(old)).toEqual([78, advice]);
  const status = async () =>
    (await movedClient.get<WireDocument>(`/documents/${id}`)).body.system_metadata.status;
  expect(['queued', 'processing']).toContain(await status());
  moved.startWorker(undefined, { QUIRE_DATA_DIR: movedTo });
  moved.workers.shift();
  await until(async () => (await status()) === 'completed');
});
