import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

const FILES = 90;
let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  const limits = { maxWaiting: 1_000, maxWaitingPerCaller: FILES, maxMemoryShare: 0.85 };
  api = await startDocumentApi({ limits, maxBatchFiles: 2 * FILES });
});
afterAll(async () => {
  await api.close();
});

const ingest = () =>
  api.request('/ingest/text', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
    body: JSON.stringify({ content: 'hello' }),
    token,
  });
const receivedBytes = async () =>
  Number(/total_net_input_bytes:(\d+)/.exec(await api.redis.info('stats'))?.[1] ?? NaN);

test('files of a form that is still being sent are not looked up for each request that they leave no room for', async () => {
  const { socket } = await openRaw(api.port);
  const part = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhello\r\n';
  socket.write(
    `POST /ingest/files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n${part.repeat(FILES + 1)}`,
  );
  await until(async () => (await ingest()).status === 429);
  const before = await receivedBytes();
  for (let i = 0; i < 20; i += 1) expect((await ingest()).status).toBe(429);
  expect((await receivedBytes()) - before).toBeLessThan(20 * 1_000);
  socket.destroy();
});
