import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createBodyBudget, type BodyBudget } from '../../src/api/http/request/body-budget.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken } from '../support/api.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { until } from '../support/until.js';

const MEBIBYTE = 1024 ** 2;
/** The share of a caller; four texts of the largest size fit. */
const SHARE = 32 * MEBIBYTE;

let bodies: BodyBudget;
let api: DocumentApi;
let connections: RawConnection[] = [];
beforeAll(async () => {
  bodies = createBodyBudget({ maxBytes: 4 * SHARE, shareBytes: SHARE });
  api = await startDocumentApi({ bodies, maxFileBytes: 50_000_000 });
});
afterAll(() => api.close());
afterEach(async () => {
  for (const { socket } of connections) socket.destroy();
  connections = [];
  await until(() => bodies.heldBytes() === 0);
});

/** Sends a request that then waits for a worker: there is none. */
async function beginWaiting(method: string, path: string, body: Buffer): Promise<RawConnection> {
  const connection = await openRaw(api.port);
  connections.push(connection);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${makeToken()}`,
    'Content-Type: application/json',
    'Prefer: wait=60',
    `Content-Length: ${String(body.length)}`,
  ];
  connection.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  connection.socket.write(body);
  return connection;
}

const waiting = () => api.redis.hLen(keys.ingests);
const textOf = (megabytes: number) =>
  Buffer.from(JSON.stringify({ content: 'word '.repeat((megabytes * MEBIBYTE) / 5 - 10) }));

function heldMegabytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MEBIBYTE;
}

test('texts that wait to be searchable hold neither the budget nor memory: a fifth of 8 MiB is taken', async () => {
  const body = textOf(8);
  const before = heldMegabytes();
  const base = await waiting();
  for (let n = 1; n <= 5; n += 1) {
    const connection = await beginWaiting('POST', '/ingest/text', body);
    await until(async () => (await waiting()) === base + n || connection.received() !== '');
    expect(connection.received()).toBe('');
    await until(() => bodies.heldBytes() < MEBIBYTE);
  }
  // Held, they would be 40.
  expect(heldMegabytes() - before).toBeLessThan(20);
});

test('access lists that are held while a document waits still count', async () => {
  const readers = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(256, 'r'));
  const base = await waiting();
  const body = Buffer.from(JSON.stringify({ content: 'x', access_control: { readers } }));
  await beginWaiting('POST', '/ingest/text', body);
  await until(async () => (await waiting()) === base + 1);
  await until(() => bodies.heldBytes() > 0);
  expect(bodies.heldBytes()).toBeGreaterThan(256 * 1_000);
});

test('so do new contents of documents', async () => {
  const others = await api.redis.hKeys(keys.ingests);
  await beginWaiting('POST', '/ingest/text', Buffer.from(JSON.stringify({ content: 'x' })));
  await until(async () => (await waiting()) === others.length + 1);
  const id = (await api.redis.hKeys(keys.ingests)).find((each) => !others.includes(each)) ?? '';
  for (let n = 0; n < 5; n += 1) {
    const body = Buffer.from(JSON.stringify({ content: `${String(n)} `.repeat((8 * MEBIBYTE) / 2 - 20) }));
    const connection = await beginWaiting('PUT', `/documents/${id}/content`, body);
    await until(async () => (await api.records.read(id))?.version === n + 2 || connection.received() !== '');
    await until(() => bodies.heldBytes() < MEBIBYTE);
  }
  expect((await api.records.read(id))?.version).toBe(6);
});

/** Begins a form with a field of so many bytes that is sent like a file, as browsers do with a Blob. */
async function beginField(path: string, bytes: number): Promise<RawConnection> {
  const connection = await openRaw(api.port);
  connections.push(connection);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${makeToken()}`,
    'Content-Type: multipart/form-data; boundary=b',
    'Content-Length: 45000000',
    '',
    '--b',
    'Content-Disposition: form-data; name="metadata"; filename="blob"',
  ];
  connection.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  connection.socket.write(Buffer.alloc(bytes, 'x'));
  return connection;
}

describe.each(['/ingest/file', '/ingest/files'])('a field of %s that is sent like a file', (path) => {
  test('counts as long as it is held', async () => {
    await beginField(path, MEBIBYTE / 10);
    await until(() => bodies.heldBytes() > MEBIBYTE / 12, 10);
  });

  test('that is too long is not held, however long it is', async () => {
    const { socket, received, until: hear } = await beginField(path, 40 * MEBIBYTE);
    socket.write('\r\n--b--\r\n');
    await hear(/^HTTP\/1.1 4/);
    expect(received()).toMatch(/^HTTP\/1.1 422 /);
    expect(received()).toContain('this field is too long');
  });
});
