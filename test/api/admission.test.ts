import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentView } from '../../src/api/routes/document-view.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken, type ApiAnswer } from '../support/api.js';
import { outcomesOf } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

let api: DocumentApi;
const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((entity_id) => makeToken({ entity_id }));

beforeAll(async () => {
  api = await startDocumentApi({ limits: { maxWaiting: 5, maxWaitingPerCaller: 3, maxMemoryShare: 0.85 } });
});
afterAll(async () => {
  await api.close();
});

const send = (method: string, path: string, token: string | undefined, body?: unknown): Promise<ApiAnswer> =>
  api.request(path, {
    method,
    headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    token: token ?? '',
  });
const ingest = (token: string | undefined) => send('POST', '/ingest/text', token, { content: 'hello' });
const idOf = (answer: ApiAnswer) => documentView.parse(answer.body).external_id;
const waiting = async () => ({
  all: await api.redis.hLen(keys.ingests),
  ...Object.fromEntries(
    (await api.redis.zRangeWithScores(keys.ingestsByCaller, 0, -1)).map(({ value, score }) => [value, score]),
  ),
});

test('a caller with too many documents waiting is told to come back, and may go on with all else', async () => {
  const answers = [await ingest(alice), await ingest(alice), await ingest(alice)];
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  const ids = answers.map(idOf);
  const [first = '', second = '', third = ''] = ids;
  const refused = [
    await ingest(alice),
    await send('PUT', `/documents/${first}/content`, alice, { content: 'other' }),
  ];
  for (const { status, headers, body } of refused) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body).toEqual({ detail: 'Too many of your documents are waiting to be ingested' });
  }
  expect((await send('GET', `/documents/${first}`, alice)).status).toBe(200);
  expect((await send('PATCH', `/documents/${first}`, alice, { metadata: { a: 1 } })).status).toBe(202);
  // Others are not concerned.
  const [bobs] = [await ingest(bob)];
  expect(bobs.status).toBe(202);
  expect(await waiting()).toEqual({ all: 4, alice: 3, bob: 1 });
  // Whatever ends an ingest makes room.
  await playIngest(api, first, ['hello']);
  await playFailure(api, second, 'corrupt');
  expect(await waiting()).toEqual({ all: 2, alice: 1, bob: 1 });
  // A retry waits like an ingest; one of what needs none is answered as ever.
  const more = [idOf(await ingest(alice)), idOf(await ingest(alice))];
  expect((await send('POST', `/documents/${second}/retry`, alice)).status).toBe(429);
  expect((await send('POST', `/documents/${first}/retry`, alice)).status).toBe(200);
  for (const id of more) await send('DELETE', `/documents/${id}`, alice);
  expect((await send('POST', `/documents/${second}/retry`, alice)).status).toBe(202);
  await send('POST', `/documents/${second}/cancel`, alice);
  await send('DELETE', `/documents/${third}`, alice);
  await send('DELETE', `/documents/${idOf(bobs)}`, bob);
  expect(await waiting()).toEqual({ all: 0 });
});

test('too many of all callers together are refused with 503, for each of them', async () => {
  const answers = [];
  for (const caller of [alice, alice, bob, bob, carol]) answers.push(await ingest(caller));
  const refused = await ingest(carol);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  for (const answer of answers) await playIngest(api, idOf(answer), ['hello']);
  expect((await ingest(carol)).status).toBe(202);
  await api.redis.del([keys.ingests, keys.ingestsByCaller]);
});

test('what arrives at the same moment, and uploads that are still under way, do not get past a limit', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => ingest(alice)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(3);
  expect(statuses.filter((status) => status === 429)).toHaveLength(9);
  for (const answer of answers) if (answer.status === 202) await playIngest(api, idOf(answer), ['hello']);

  const uploads = await Promise.all([1, 2, 3].map(() => openRaw(api.port)));
  for (const { socket, until: hear } of uploads) {
    socket.write(
      `POST /ingest/file HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${alice ?? ''}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n',
    );
    await hear(/^HTTP\/1.1 100 /);
  }
  expect((await ingest(alice)).status).toBe(429);
  expect((await ingest(bob)).status).toBe(202);
  for (const { socket } of uploads) socket.destroy();
  await api.redis.del([keys.ingests, keys.ingestsByCaller]);
  // Their places are free again.
  await until(async () => (await ingest(alice)).status === 202);
  await api.redis.del([keys.ingests, keys.ingestsByCaller]);
});

test('equal contents for which there is no room are not looked up again for each other', async () => {
  const lookups = async () =>
    Number(/cmdstat_zrange:calls=(\d+)/.exec(await api.redis.info('commandstats'))?.[1] ?? 0);
  const before = await lookups();
  const documents = [
    ...['one', 'two', 'three'].map((content) => ({ content })),
    ...Array.from({ length: 100 }, () => ({ content: 'same', on_duplicate: 'return' })),
  ];
  const answer = await send('POST', '/ingest/batch', alice, { documents });
  const outcomes = outcomesOf(answer.body);
  expect(outcomes.map(({ status }) => status).slice(0, 4)).toEqual(['queued', 'queued', 'queued', undefined]);
  for (const { error } of outcomes.slice(3)) expect(error?.type).toBe('try_later.too_many');
  expect((await lookups()) - before).toBeLessThan(3 * documents.length);
  await api.redis.del([keys.ingests, keys.ingestsByCaller]);
});

test('a Redis that is nearly full takes no more documents, while all else goes on', async () => {
  const kept = idOf(await ingest(alice));
  await playIngest(api, kept, ['hello']);
  // So much that what connections take and give back on the way is nothing beside it.
  await api.redis.setRange('filler', 50_000_000, 'x');
  const used = Number(/used_memory:(\d+)/.exec(await api.redis.info('memory'))?.[1]);
  await api.redis.configSet({ maxmemory: String(Math.ceil(used / 0.9)) });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const refused = await ingest(alice);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect((await send('GET', `/documents/${kept}`, alice)).status).toBe(200);
  expect((await send('PATCH', `/documents/${kept}`, alice, { access_control: { readers: [] } })).status).toBe(
    202,
  );
  expect((await send('DELETE', `/documents/${kept}`, alice)).status).toBe(200);
  await api.redis.configSet({ maxmemory: '0' });
  await api.redis.del('filler');
});

test('it is decided before the body is read', async () => {
  await api.redis.zAdd(keys.ingestsByCaller, { value: 'alice', score: 3 });
  const socket = connect(api.port, '127.0.0.1');
  socket.write(
    `POST /ingest/text HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${alice ?? ''}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{',
  );
  const answer: unknown[] = await once(socket, 'data');
  expect(String(answer[0])).toMatch(/^HTTP\/1\.1 429 /);
  socket.destroy();
  await api.redis.del(keys.ingestsByCaller);
});
