import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { openRaw } from '../support/raw-http.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ bodyGraceSeconds: 1 });
});
afterAll(async () => {
  await api.close();
});

test('a stream that was fast may not pause for longer because of that', async () => {
  const { socket, until: seen } = await openRaw(api.port);
  const head = [
    'POST /ingest/batch HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${makeToken()}`,
    'Content-Type: application/x-ndjson',
    'Content-Length: 1000000',
  ].join('\r\n');
  // At 500 bytes a second, this is for 200 seconds.
  socket.write(`${head}\r\n\r\n${'\n'.repeat(100_000)}`);
  const answer = await seen(/\r\n0\r\n\r\n$/);
  expect(answer).toMatch(
    /"index":100000,"error":\{"loc":\["body"\],"msg":"The request body comes too slowly"/,
  );
  socket.destroy();
});
