import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { UnavailableError } from '../../src/shared/errors.js';
import { keys } from '../../src/shared/redis/keys.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, idsOf, type User } from '../support/document-client.js';
import { playIngest } from '../support/play-worker.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

let server: TestRedis;
let api: DocumentApi;
let user: User;
let isDiskFull = false;

beforeAll(async () => {
  server = await startTestRedis();
  api = await startDocumentApi({
    redisUrl: server.url,
    waitSeconds: 20,
    wrapStorage: (storage) => ({
      ...storage,
      put: async (key, source) => {
        await storage.put(key, source);
        if (!isDiskFull) return;
        await storage.remove(key);
        throw new UnavailableError('object storage');
      },
    }),
  });
  user = createUser(api, 'alice');
});
afterAll(async () => {
  await api.close();
  await server.stop();
});

test('a full disk is 503, and nothing is listed; short texts need none', async () => {
  isDiskFull = true;
  const answers = [
    await user.send('POST', '/ingest/text', { content: 'long '.repeat(2_000) }),
    await user.upload('text', 'a.txt'),
  ];
  const id = await user.ingest('short');
  expect((await user.get(`/documents/${id}/download`)).text).toBe('short');
  expect((await user.send('DELETE', `/documents/${id}`)).status).toBe(200);
  isDiskFull = false;
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.headers.has('retry-after')).toBe(true);
  }
  expect(idsOf(await user.get('/documents'))).toEqual([]);
  expect(await api.storedFiles()).toEqual([]);
  expect(await api.redis.zCard(keys.draftObjects)).toBe(0);
});

test('a subscription that was cut off is there again, and no wait is lost meanwhile', async () => {
  const answering = user.send('POST', '/ingest/text', { content: 'text' });
  let id = '';
  await until(async () => (id = idsOf(await user.get('/documents'))[0] ?? '') !== '');
  await api.redis.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']);
  await playIngest(api, id, ['text']);
  const published = performance.now();
  expect((await answering).status).toBe(200);
  // The wait would be twenty seconds.
  expect(performance.now() - published).toBeLessThan(8_000);
  const answeringAgain = user.send('PUT', `/documents/${id}/content`, { content: 'new' });
  await until(async () => (await api.records.read(id))?.version === 2);
  await sleep(100);
  await playIngest(api, id, ['new']);
  expect((await answeringAgain).status).toBe(200);
});

test('what was acknowledged survives a crash of Redis; while it is down everything is 503', async () => {
  const id = await user.ingest('kept');
  const files = await api.storedFiles();
  const waiting = user.send('POST', '/ingest/text', { content: 'waited for '.repeat(1_000) });
  await until(async () => (await api.storedFiles()).length > files.length);
  await until(async () => idsOf(await user.get('/documents')).length === 3);
  await server.crash();
  const answers = [
    await user.send('POST', '/ingest/text', { content: 'refused' }),
    await user.upload('refused', 'a.txt'),
    await user.get(`/documents/${id}`),
    await user.send('DELETE', `/documents/${id}`),
    await user.send('PUT', `/documents/${id}/content`, { content: 'refused' }),
    await user.send('PATCH', `/documents/${id}`, { metadata: {} }),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.headers.has('retry-after')).toBe(true);
  }
  // Its record was written: to answer with an error would have it sent again.
  const waited = await waiting;
  expect(waited.status).toBe(202);
  await server.start();
  await until(() => api.redis.isReady);
  for (const each of [id, documentOf(waited).external_id]) {
    expect(documentOf(await user.get(`/documents/${each}`)).system_metadata.status).toBe('queued');
  }
  expect((await user.get(`/documents/${id}/download`)).text).toBe('kept');
  expect(await api.storedFiles()).toHaveLength(files.length + 1);
});
