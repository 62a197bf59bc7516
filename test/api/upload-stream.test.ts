import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { until } from '../support/until.js';

const MAX_BYTES = 200_000;
let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  api = await startDocumentApi({ maxFileBytes: MAX_BYTES, waitSeconds: 0 });
});
afterEach(async () => {
  expect(await api.storedFiles()).toEqual([]);
});
afterAll(async () => {
  await api.close();
});

const requestHead = ({ length }: { length: number }) =>
  `${[
    'POST /ingest/file HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${String(length)}`,
  ].join('\r\n')}\r\n\r\n`;

const partHead = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

test('the byte that is too much is answered while the client is still sending', async () => {
  // It never sends the rest.
  const socket = connect(api.port, '127.0.0.1');
  const answers: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => answers.push(bytes)).on('error', () => undefined);
  socket.write(requestHead({ length: 8_000_000 }) + partHead);
  for (let sent = 0; sent < MAX_BYTES * 2; sent += 10_000) socket.write('x'.repeat(10_000));
  await until(() => Buffer.concat(answers).toString().includes('\r\n\r\n'));
  expect(Buffer.concat(answers).toString()).toMatch(/^HTTP\/1.1 413 /);
  socket.destroy();
});

test('a body whose length says that it is too large is refused unread', async () => {
  const socket = connect(api.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(requestHead({ length: 500_000_000 }));
  const answer: unknown[] = await once(socket, 'data');
  expect(String(answer[0])).toMatch(/^HTTP\/1.1 413 /);
  socket.destroy();
});

test('a client that goes away in the middle of the file leaves nothing behind', async () => {
  const socket = connect(api.port, '127.0.0.1');
  socket.write(requestHead({ length: 150_000 }) + partHead + 'x'.repeat(100_000));
  await until(async () => (await api.storedFiles()).length > 0);
  socket.destroy();
  await until(async () => (await api.storedFiles()).length === 0);
});

test('an upload is read no faster than storage takes it', async () => {
  const size = 50_000_000;
  let isOpen = false;
  const slow = await startDocumentApi({
    redisUrl: api.redisUrl,
    maxFileBytes: size,
    waitSeconds: 0,
    wrapStorage: (storage) => ({
      ...storage,
      put: async (key, source) => {
        await until(() => isOpen);
        await storage.put(key, source);
      },
    }),
  });
  try {
    const socket = connect(slow.port, '127.0.0.1');
    const answer = once(socket, 'data');
    const end = '\r\n--b--\r\n';
    socket.write(requestHead({ length: partHead.length + size + end.length }) + partHead);
    for (let sent = 0; sent < size; sent += 1_000_000) socket.write(Buffer.alloc(1_000_000, 'words '));
    socket.write(end);
    await sleep(1_000);
    // Only the bytes that sockets hold of it.
    expect(socket.writableLength).toBeGreaterThan(size / 2);
    isOpen = true;
    const bytes: unknown[] = await answer;
    expect(String(bytes[0])).toContain(`"size_bytes":${String(size)}`);
    socket.destroy();
  } finally {
    await slow.close();
  }
});
