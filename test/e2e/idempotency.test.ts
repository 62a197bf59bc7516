import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../src/shared/redis/keys.js';
import { cacheOperations, createCache, someModel } from '../support/cache-client.js';
import { createClient, type Client, type Reply, type WireDocument } from '../support/client.js';
import { openRaw } from '../support/raw-http.js';
import type { Service } from '../support/service.js';
import { COMMANDS, startTwoServices, whenFree, type TwoServices } from '../support/two-services.js';
import { until } from '../support/until.js';

let services: TwoServices;
let first: Service;
let second: Service;

beforeAll(async () => {
  services = await startTwoServices();
  ({ first, second } = services);
});
afterAll(() => services.stop());

/** Kills the first API while the proxy holds back a command of it, which never reaches Redis. */
async function crashFirst(gate: { release(): void }): Promise<void> {
  await services.restartFirst();
  gate.release();
}

const { writesRecord: WRITES_RECORD, startsBuild: WRITES_CACHE, remembersAnswer: REMEMBERS } = COMMANDS;

const ended = (reply: Promise<unknown>) => reply.catch(() => null);

const documentsOf = async (client: Client) => (await client.get<WireDocument[]>('/documents')).body;

function callersOf(user: string) {
  const key = { 'idempotency-key': randomUUID() };
  return { here: createClient(first.url, user), there: createClient(second.url, user), key };
}

describe('the API is killed', () => {
  test.each([
    ['before the record is written', WRITES_RECORD, 0],
    ['between the record and the remembered answer', REMEMBERS, 1],
  ])('%s: the same key makes one document', async (_when, word, written) => {
    const { here, key } = callersOf(`text-${String(written)}`);
    const gate = services.proxy.hold(word);
    const lost = ended(here.ingestText('The heron waits.', {}, key));
    await gate.held;
    const before = await documentsOf(createClient(second.url, `text-${String(written)}`));
    expect(before).toHaveLength(written);
    await crashFirst(gate);
    await lost;
    const again = await whenFree(() => here.ingestText('The heron waits.', {}, key), services.endLeases);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe(written === 1 ? 'true' : null);
    const after = await documentsOf(here);
    expect(after).toEqual([again.body]);
    for (const { external_id: id } of before) expect(again.body.external_id).toBe(id);
    const stats = await here.get<Record<string, number>>('/usage/stats');
    expect(stats.body['ingest_text']).toBe(1);
  });

  test('in the middle of an upload', async () => {
    const { here, key } = callersOf('uploader');
    const raw = await openRaw(Number(new URL(first.url).port));
    const head = [
      'POST /ingest/file HTTP/1.1',
      'Host: localhost',
      `Authorization: ${here.authorization}`,
      `Idempotency-Key: ${key['idempotency-key']}`,
      'Content-Type: multipart/form-data; boundary=cut',
      'Content-Length: 5000',
    ];
    const part = '--cut\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf';
    raw.socket.write(`${head.join('\r\n')}\r\n\r\n${part}`);
    const place = keys.idempotency('uploader', key['idempotency-key']);
    await until(async () => (await services.redis.exists(place)) === 1);
    const reserved = await services.redis.hGet(place, 'id');
    await services.restartFirst();
    raw.socket.destroy();
    // Here nobody ends the lease but time.
    const again = await whenFree(() => here.ingestFile(Buffer.from('A whole file.'), 'a.txt', key));
    expect(again.status).toBe(200);
    expect(again.body.external_id).toBe(reserved);
    expect(await documentsOf(here)).toHaveLength(1);
  });

  test('after a file was recorded: another file is a 422, the same is answered', async () => {
    const { here, key } = callersOf('filer');
    const send = (text: string) => here.ingestFile(Buffer.from(text), 'a.txt', key);
    const gate = services.proxy.hold(REMEMBERS);
    const lost = ended(send('The first file.'));
    await gate.held;
    await crashFirst(gate);
    await lost;
    expect((await whenFree(() => send('Another file.'), services.endLeases)).status).toBe(422);
    const again = await whenFree(() => send('The first file.'), services.endLeases);
    expect(again.status).toBe(200);
    expect(await documentsOf(here)).toEqual([again.body]);
  });

  test.each([
    ['before a build is written', WRITES_CACHE],
    ['between the build and the remembered answer', REMEMBERS],
  ])('%s: the same key builds a cache once', async (_when, word) => {
    const user = word === REMEMBERS ? 'cacher-1' : 'cacher-0';
    const { here, key } = callersOf(user);
    expect((await here.ingestText('A heron.', { metadata: { topic: 'birds' } })).status).toBe(200);
    const body = { name: 'birds', ...someModel, filters: { topic: 'birds' } };
    const gate = services.proxy.hold(word);
    const lost = ended(here.post('/cache/create', body, key));
    await gate.held;
    await crashFirst(gate);
    await lost;
    const again = await whenFree(() => here.post('/cache/create', body, key), services.endLeases);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ name: 'birds', status: 'ready', doc_count: 1 });
    const replayed = await here.post('/cache/create', body, key);
    expect(replayed.body).toEqual(again.body);
    expect(await cacheOperations(here)).toEqual(['create_cache success']);
  });
});

describe('a process that is frozen changes nothing once another one has taken its request over', () => {
  /** Freezes the first API with a command on its way, lets the second one take over, and wakes the first up. */
  async function takeOver<Body>(word: string, send: (client: 'here' | 'there') => Promise<Reply<Body>>) {
    const gate = services.proxy.hold(word);
    const late = send('here');
    await gate.held;
    first.api.child.kill('SIGSTOP');
    const taken = await whenFree(() => send('there'), services.endLeases);
    const scripts = await scriptsRun();
    gate.release();
    await until(async () => (await scriptsRun()) > scripts);
    first.api.child.kill('SIGCONT');
    // It may notice first that Redis was silent for long.
    expect([409, 503]).toContain((await late).status);
    await first.untilReady();
    expect(taken.status).toBe(200);
    return taken.body;
  }

  const scriptsRun = async () =>
    Number(/cmdstat_eval:calls=(\d+)/.exec(await services.redis.info('commandstats'))?.[1] ?? 0);

  test('an ingest', async () => {
    const { key, ...clients } = callersOf('frozen');
    const taken = await takeOver(WRITES_RECORD, (client) =>
      clients[client].ingestText('The heron waits.', {}, key),
    );
    expect(await documentsOf(clients.there)).toEqual([taken]);
    expect((await clients.here.ingestText('The heron waits.', {}, key)).body).toEqual(taken);
  });

  test('the build of a cache', async () => {
    const { key, ...clients } = callersOf('frozen-cache');
    const { body: document } = await clients.there.ingestText('A heron.');
    const body = { name: 'birds', ...someModel, docs: [document.external_id] };
    await takeOver(WRITES_CACHE, (client) => clients[client].post('/cache/create', body, key));
    expect(await cacheOperations(clients.there)).toEqual(['create_cache success']);
  });
});

test('two processes asked at once make one document', async () => {
  const { here, there, key } = callersOf('both');
  const send = (i: number) => (i % 2 === 0 ? here : there).ingestText('Two herons wait.', {}, key);
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i)));
  for (const { status } of replies) expect([200, 409]).toContain(status);
  expect(await documentsOf(here)).toHaveLength(1);
  const later = await Promise.all([send(0), send(1)]);
  for (const { status, body } of later) expect([status, body]).toEqual([200, (await documentsOf(here))[0]]);
});

test('two processes asked at once to return what is there make one document', async () => {
  const { here, there } = callersOf('returner');
  const send = (i: number) =>
    (i % 2 === 0 ? here : there).ingestText('Three herons wait.', { on_duplicate: 'return' });
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i)));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  expect(new Set(replies.map(({ body }) => body.external_id)).size).toBe(1);
  expect(await documentsOf(here)).toHaveLength(1);
});

test('changes of caches are repeated as well', async () => {
  const { here, key } = callersOf('extender');
  const { body: document } = await here.ingestText('A heron.');
  expect((await createCache(here, 'birds', { docs: [document.external_id] })).status).toBe(200);
  const { body: added } = await here.ingestText('A stork.');
  for (let i = 0; i < 2; i += 1) {
    const docs = { docs: [added.external_id] };
    const reply = await here.post('/cache/birds/add_docs', docs, key);
    expect([reply.status, reply.body]).toEqual([200, { success: true, status: 'ready' }]);
    expect(reply.headers.get('idempotent-replayed')).toBe(i === 0 ? null : 'true');
  }
  expect((await here.post('/cache/birds/update', {}, key)).status).toBe(422);
  const update = { 'idempotency-key': randomUUID() };
  for (let i = 0; i < 2; i += 1)
    expect((await here.post('/cache/birds/update', {}, update)).status).toBe(200);
  const operations = ['create_cache success', 'add_docs_to_cache success', 'update_cache success'];
  expect(await cacheOperations(here)).toEqual(operations);
});

test('while Redis is away a key is answered 503, and then can be used', async () => {
  const { there, key } = callersOf('outage');
  await first.redis.crash();
  const refused = await there.ingestText('The heron waits.', {}, key);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  await first.redis.start();
  await second.untilReady();
  const again = () => whenFree(() => there.ingestText('The heron waits.', {}, key));
  // The queues, and the mirror of the index, take a moment longer to be back.
  await until(async () => (await again()).status === 200);
  await until(async () => (await there.get('/documents')).status === 200);
  expect(await documentsOf(there)).toHaveLength(1);
});
