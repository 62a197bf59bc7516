import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createClient, type Client, type Reply, type WireDocument } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import type { Service } from '../support/service.js';
import { until } from '../support/until.js';

const MEGABYTE = 1024 ** 2;

describeOnEachIndex((start) => {
  let service: Service;
  let redis: Redis;
  let number = 0;
  let stranger: Client;
  /** The document of the stranger; `reader` may read it. */
  let opened: string;
  let reader: string;

  beforeAll(async () => {
    service = await start({ env: { QUIRE_DEV_MODE: 'false' } });
    redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
    await redis.connect();
  });

  /** Each test has callers of its own, and begins with room. */
  beforeEach(async () => {
    number += 1;
    reader = `eve${String(number)}`;
    stranger = createClient(service.url, `stranger${String(number)}`);
    const { status, body } = await stranger.ingestText('A canary sings.', {
      access_control: { readers: [reader] },
    });
    expect(status).toBe(200);
    opened = body.external_id;
  });

  afterEach(() => redis.configSet('maxmemory', '0'));

  afterAll(async () => {
    redis.destroy();
    await service.stop();
  });

  const figure = async (name: string) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info('memory'))?.[1]);

  /** The bytes that Redis counts against its `maxmemory`; buffers of replicas and of the append-only file do not count. */
  const usedMemory = async () => (await figure('used_memory')) - (await figure('mem_not_counted_for_evict'));

  /** Buffers of connections count for a few seconds after a large command. */
  const expectWithin = (most: number) => until(async () => (await usedMemory()) < most, 15);

  /** So much more may Redis take than it has now. */
  const leaveRoom = async (bytes: number): Promise<number> => {
    const most = (await usedMemory()) + bytes;
    await redis.configSet('maxmemory', String(most));
    return most;
  };

  const statusOf = async (client: Client, id: string) =>
    (await client.get<WireDocument>(`/documents/${id}`)).body.system_metadata.status;

  const changeAccess = (client: Client, id: string, lists: object) =>
    client.send('PATCH', `/documents/${id}`, {
      body: JSON.stringify({ access_control: lists }),
      headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    });

  /** Expects the service that goes on however full Redis is. */
  async function expectStrangerServed(): Promise<void> {
    const eve = createClient(service.url, reader);
    expect((await eve.searchChunks('canary')).body[0]?.document_id).toBe(opened);
    const own = await stranger.get<WireDocument[]>('/documents');
    expect([own.status, own.body.map(({ external_id: id }) => id)]).toEqual([200, [opened]]);
    const revoked = await changeAccess(stranger, opened, { readers: [] });
    expect({ status: revoked.status, body: revoked.body }).toMatchObject({ status: 202 });
    expect(await eve.searchChunks('canary')).toMatchObject({ status: 200, body: [] });
    expect((await stranger.searchChunks('canary')).body[0]?.document_id).toBe(opened);
    expect((await stranger.delete(`/documents/${opened}`)).status).toBe(200);
    expect(await stranger.searchChunks('canary')).toMatchObject({ status: 200, body: [] });
  }

  function expectRefused({ status, headers, body }: Reply<unknown>): void {
    expect({ status, body }).toEqual({ status: 503, body: { detail: expect.stringMatching(/no room/) } });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }

  // The first one, because it ends when there is no chunk any more.
  test('a Redis without any memory left is read, closed to somebody, and emptied', async () => {
    const heavy = createClient(service.url, 'heavy');
    const words = Array.from({ length: 3_000 }, (_, i) => `word${String(i)}`).join(' ');
    const { body } = await heavy.ingestFile(Buffer.from(words), 'words.txt');
    expect(body.system_metadata.status).toBe('completed');
    await redis.configSet('maxmemory', '1');
    await sleep(500);
    await expectStrangerServed();
    expect((await heavy.delete(`/documents/${body.external_id}`)).status).toBe(200);
    const rest = async () => (await redis.sCard(keys.garbage)) + (await redis.sCard(keys.hidden));
    await until(async () => (await rest()) === 0);
    expect(await redis.keys(keys.chunk('*', 0))).toEqual([]);
    expectRefused(await stranger.ingestText('One more.'));
    await redis.configSet('maxmemory', '0');
    await until(async () => (await stranger.ingestText('One more.')).status === 200);
  });

  test('a small file whose text is out of all proportion fails, and says so', async () => {
    // Each value gets a line with its indent.
    const list = Buffer.from(`${'['.repeat(10)}${'1,'.repeat(800_000)}1${']'.repeat(10)}`);
    const { status, body } = await stranger.ingestFile(list, 'deep.json');
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/too much text/) },
    });
  });

  test('documents that there is no room for wait without taking any, and go on by themselves', async () => {
    // The Query Engine keeps 4 MB for up to 1,024 vectors while it has one, beside which one of the documents has to fit.
    const most = await leaveRoom(16 * MEGABYTE);
    const heavy = createClient(service.url, 'plums');
    const ids: string[] = [];
    for (let plum = 0; plum < 12; plum += 1) {
      const text = Array.from(
        { length: 5_000 },
        (_, i) => `Sentence ${String(i)} of ${String(plum)} is about plum${String(plum)}.`,
      ).join(' ');
      const { status, body } = await heavy.ingestFile(Buffer.from(text), 'plums.txt', {
        prefer: 'respond-async',
      });
      expect(status).toBe(202);
      ids.push(body.external_id);
    }
    const states = () => Promise.all(ids.map((id) => statusOf(heavy, id)));
    const isDone = (state: string) => state === 'completed';
    await until(async () => (await states()).some(isDone));
    // Until nothing moves any more.
    for (let before = ''; ;) {
      const now = JSON.stringify(await states());
      if (now === before) break;
      before = now;
      await sleep(4_000);
    }
    const waiting = (await states()).filter((state) => state === 'queued' || state === 'processing');
    expect(waiting.length).toBeGreaterThan(0);
    expect((await states()).filter(isDone).length + waiting.length).toBe(12);
    await expectWithin(most);
    await expectStrangerServed();

    const rest = [...ids];
    await until(async () => {
      for (const id of [...rest]) {
        if (!isDone(await statusOf(heavy, id))) continue;
        rest.splice(rest.indexOf(id), 1);
        expect((await heavy.searchChunks(`plum${String(ids.indexOf(id))}`)).body[0]?.document_id).toBe(id);
        expect((await heavy.delete(`/documents/${id}`)).status).toBe(200);
      }
      return rest.length === 0;
    }, 150);
  }, 300_000);

  // The last one, because it takes a while until what it leaves in Redis is removed.
  test('changes of access by a few callers do not fill Redis, nor take anything from others', async () => {
    const attackers = ['a', 'b', 'c', 'd'].map((name) => createClient(service.url, name));
    const own = await Promise.all(
      attackers.map(async (each) => (await each.ingestText('mine')).body.external_id),
    );
    const most = await leaveRoom(20 * MEGABYTE);
    let names = 0;
    const fresh = (count: number) => Array.from({ length: count }, () => (names += 1).toString(36));
    const last: Reply<unknown>[] = [];
    for (const [i, attacker] of attackers.entries()) {
      for (let patches = 0; patches < 300; patches += 1) {
        const lists = {
          readers: fresh(1_000),
          writers: fresh(1_000),
          admins: ['a', 'b', 'c', 'd', ...fresh(996)],
        };
        const reply = await changeAccess(attacker, own[i] ?? '', lists);
        last[i] = reply;
        // A document refers to so many lists while it is re-tagged: that passes.
        if (JSON.stringify(reply.body).includes('still being made')) await sleep(100);
        else if (reply.status !== 202) break;
      }
    }
    // Each is stopped by what their own lists take, or by the share of all: whichever comes first.
    for (const { status } of last) expect([429, 503]).toContain(status);
    expectRefused(last[3] ?? raise());
    await expectWithin(most);
    await expectStrangerServed();
    expectRefused(await stranger.ingestText('One more.'));
    expectRefused(await stranger.post('/cache/create', { name: 'x', model: 'm', gguf_file: 'f' }));
  });
});

function raise(): never {
  throw new Error('no answer');
}
