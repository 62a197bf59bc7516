import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { fillDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { until } from '../support/until.js';

const MEGABYTE = 2 ** 20;
const SPARE = { QUIRE_DISK_MIN_FREE_MEGABYTES: '32' };

let disk: SmallDisk | null = null;
let quire: ChildProcess | null = null;
let service: Service | null = null;
let redis: TestRedis | null = null;

afterEach(async () => {
  if (quire) {
    quire.kill('SIGTERM');
    await once(quire, 'exit');
  }
  await service?.stop();
  await redis?.stop();
  disk?.unmount();
  quire = service = redis = disk = null;
});

/** Starts the processes of `npm start`, with their data on the small disk and a Redis of their own. */
async function startQuire(dataDirectory: string): Promise<{ client: Client; output: () => string }> {
  const port = await freePort();
  const env = { ...SPARE, QUIRE_DATA_DIR: dataDirectory, PORT: String(port), QUIRE_NO_INSTALL: '1' };
  quire = spawn(process.execPath, ['dist/cli/main.js', 'up'], {
    env: { PATH: process.env['PATH'], QUIRE_DEV_MODE: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: string[] = [];
  for (const stream of [quire.stdout, quire.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => parts.push(part));
  const output = () => parts.join('');
  await until(() => /^ready/m.test(output()));
  return { client: createClient(`http://127.0.0.1:${String(port)}`), output };
}

/** Searches all the time, until it is told to stop; answers how many searches were made, and which failed. */
function keepSearching(client: Client) {
  const failures: number[] = [];
  let made = 0;
  let isOver = false;
  const run = (async () => {
    // `isOver` is set by the function below.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
    while (!isOver) {
      const { status } = await client.post('/retrieve/chunks', { query: 'plates' });
      made += 1;
      if (status !== 200) failures.push(status);
    }
  })();
  return async () => {
    isOver = true;
    await run;
    return { made, failures };
  };
}

const noise = (bytes: number) => Buffer.alloc(bytes, 'The cupboard is full of plates. ');

describe('a small disk', () => {
  test('one who fills the disk with uploads stops no search, and everything can be deleted', async () => {
    disk = mountSmallDisk(160);
    if (!disk) return;
    const { client } = await startQuire(join(disk.directory, 'data'));
    expect((await client.ingestText('The cupboard is full of plates.')).status).toBe(200);
    const stop = keepSearching(client);
    const kept: string[] = [];
    let refused: Awaited<ReturnType<Client['ingestFile']>> | null = null;
    for (let number = 0; number < 60 && !refused; number += 1) {
      const file = noise(8 * MEGABYTE);
      file.write(`File ${String(number)}. `);
      const reply = await client.ingestFile(file, `${String(number)}.bin.txt`, { prefer: 'respond-async' });
      if (reply.status === 202) kept.push(reply.body.external_id);
      else refused = reply;
    }
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/disk/) } });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    const { body: ready } = await client.get<{ disks: Record<string, { free_bytes: number }> }>(
      '/health/ready',
    );
    expect(ready.disks['redis']?.free_bytes).toBeGreaterThan(16 * MEGABYTE);
    for (const id of kept) expect((await client.delete(`/documents/${id}`)).status).toBe(200);
    const { made, failures } = await stop();
    expect(made).toBeGreaterThan(10);
    expect(failures).toEqual([]);
  });

  test('one who fills the disk of Redis with texts stops no search, and everything can be deleted', async () => {
    disk = mountSmallDisk(96);
    if (!disk) return;
    redis = await startTestRedis({ arguments: ['--dir', disk.directory] });
    service = await startService({ redis, env: { ...SPARE, QUIRE_REDIS_DIRECTORY: disk.directory } });
    const client = createClient(service.url);
    const stop = keepSearching(client);
    const kept: string[] = [];
    let status = 200;
    for (let number = 0; number < 500 && status < 400; number += 1) {
      const text = `Text ${String(number)}. ${noise(200_000).toString()}`;
      const reply = await client.ingestText(text, {}, { prefer: 'respond-async' });
      status = reply.status;
      if (status === 202) kept.push(reply.body.external_id);
      else expect(reply).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/disk/) } });
    }
    expect(status).toBe(503);
    for (const id of kept) expect((await client.delete(`/documents/${id}`)).status).toBe(200);
    const { made, failures } = await stop();
    expect(made).toBeGreaterThan(10);
    expect(failures).toEqual([]);
  });

  test('a disk that others fill ends no service: Redis gives up its reserve, and documents can be deleted', async () => {
    disk = mountSmallDisk(160);
    if (!disk) return;
    const { client, output } = await startQuire(join(disk.directory, 'data'));
    const { body: kept } = await client.ingestText('The cupboard is full of plates.');
    fillDisk(join(disk.directory, 'filler'));
    // Redis ends at its next write, for which nobody has to do more than search.
    await until(async () => {
      await client.post('/retrieve/chunks', { query: 'plates' }).catch(() => null);
      return output().includes('reserve is given up');
    });
    await until(async () => (await client.post('/retrieve/chunks', { query: 'plates' })).status === 200);
    expect((await client.ingestText('Refused.')).status).toBe(503);
    expect((await client.get<WireDocument>(`/documents/${kept.external_id}`)).body).toEqual(kept);
    expect((await client.delete(`/documents/${kept.external_id}`)).status).toBe(200);
    rmSync(join(disk.directory, 'filler'));
    await until(async () => (await client.ingestText('Taken again.')).status === 200);
  });
});
