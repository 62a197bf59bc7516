import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { createRedis } from '../../src/shared/redis/client.js';
import { createClient, type Client, type Reply, type WireDocument } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import { startService, type Service } from '../support/service.js';
import { fillDisk, mountSmallDisk } from '../support/small-disk.js';
import { until } from '../support/until.js';

let service: Service;
let client: Client;

afterEach(async () => {
  await service.stop();
});

const text = (bytes: number) => Buffer.alloc(bytes, 'The cupboard is full of plates. ');

function expectUnavailable({ status, headers, body }: Reply<unknown>): void {
  expect({ status, body }).toEqual({
    status: 503,
    body: { detail: expect.stringMatching(/unavailable|no room/) },
  });
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
}

async function listed(): Promise<string[]> {
  return (await client.get<WireDocument[]>('/documents')).body.map(({ external_id: id }) => id);
}

/** Names of the source files in storage, drafts included. */
async function storedFiles(): Promise<string[]> {
  const directory = join(service.dataDirectory, 'objects');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/markers'))
    .map(({ name }) => name);
}

const isReady = async () => (await client.get('/health/ready')).status === 200;

const disk = mountSmallDisk(2);

afterAll(() => {
  disk?.unmount();
});

(disk === null ? describe.skip : describe)('a full disk', () => {
  test('refuses what needs it with a 503, keeps what was there, and takes more once there is room', async () => {
    const directory = disk?.directory ?? '';
    // Here the disk is filled to its last byte; what stays free otherwise has tests of its own.
    const env = { QUIRE_DISK_MIN_FREE_MEGABYTES: '0' };
    service = await startService({ dataDirectory: directory, env });
    client = createClient(service.url);
    const { body: kept } = await client.ingestFile(text(50_000), 'kept.txt');
    const files = await storedFiles();
    expect(files).toHaveLength(1);

    // Too large for what is left, though the disk is not full yet: nothing of it stays.
    expectUnavailable(await client.ingestFile(text(3_000_000), 'large.txt'));
    expect(await storedFiles()).toEqual(files);

    fillDisk(join(directory, 'filler'));
    expectUnavailable(await client.ingestFile(text(10_000), 'small.txt'));
    expectUnavailable(await client.ingestText(text(10_000).toString()));
    const longer = { content: text(10_000).toString() };
    expectUnavailable(await client.put(`/documents/${kept.external_id}/content`, longer));
    await until(async () => (await client.get('/health/ready')).status === 503);
    expect(await client.get('/health/ready')).toMatchObject({
      body: { components: { storage: 'unavailable', redis: 'ready' } },
    });

    expect(await storedFiles()).toEqual(files);
    expect(await listed()).toEqual([kept.external_id]);
    // A short text needs no disk.
    const { status, body: short } = await client.ingestText('A short text.');
    expect([status, await listed()]).toEqual([200, [short.external_id, kept.external_id]]);
    expect((await client.delete(`/documents/${short.external_id}`)).status).toBe(200);
    const { body: still } = await client.get<WireDocument>(`/documents/${kept.external_id}`);
    expect(still).toEqual(kept);
    const [found] = (await client.searchChunks('plates')).body;
    expect(found?.document_id).toBe(kept.external_id);
    expect(await (await fetch(found?.download_url ?? '')).text()).toBe(text(50_000).toString());
    const { body: failures } = await client.get<{ operation_type: string }[]>('/usage/recent?status=error');
    expect(failures.map(({ operation_type: type }) => type)).toEqual([
      'ingest_text',
      'ingest_text',
      'ingest_file',
      'ingest_file',
    ]);

    await rm(join(directory, 'filler'));
    expect((await client.ingestFile(text(10_000), 'small.txt')).status).toBe(200);
    const replaced = await client.put<WireDocument>(`/documents/${kept.external_id}/content`, {
      content: 'Newer.',
    });
    expect([replaced.status, replaced.body.system_metadata.version]).toEqual([200, 2]);
    await until(isReady);
  });
});

describeOnEachIndex((start) => {
  test('a Redis without memory left refuses what needs some with a 503, loses nothing, and goes on once it has more', async () => {
    service = await start();
    client = createClient(service.url);
    const redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
    const { body: kept } = await client.ingestText('The pantry holds a jar of honey.');
    const waiting: string[] = [];
    for (let number = 0; number < 20; number += 1) {
      const { status, body } = await client.ingestText(
        `Jar ${String(number)} holds plum${String(number)}.`,
        {},
        {
          prefer: 'respond-async',
        },
      );
      expect(status).toBe(202);
      waiting.push(body.external_id);
    }
    await redis.configSet('maxmemory', '1');
    expectUnavailable(await client.ingestText('Refused.'));
    expectUnavailable(await client.ingestFile(text(100), 'refused.txt'));
    expectUnavailable(await client.patch(`/documents/${kept.external_id}`, { metadata: { refused: true } }));
    expect((await client.get<WireDocument>(`/documents/${kept.external_id}`)).body).toEqual(kept);
    await sleep(3_000);
    await redis.configSet('maxmemory', '0');
    await redis.close();

    await until(async () => {
      const replies = await Promise.all(waiting.map((id) => client.get<WireDocument>(`/documents/${id}`)));
      return replies.every(({ body }) => body.system_metadata.status === 'completed');
    });
    for (const [number, id] of waiting.entries()) {
      const { body } = await client.searchChunks(`plum${String(number)}`, { k: 1 });
      expect(body[0]?.document_id).toBe(id);
    }
    expect((await client.ingestText('The pantry has room again.')).status).toBe(200);
    expect(await listed()).toHaveLength(22);
    const { body: stats } = await client.get<Record<string, number>>('/usage/stats');
    expect(stats['ingest_text']).toBe(22);
    await until(isReady);
  });
});
