import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { makeToken, type ApiAnswer } from '../support/api.js';
import { inShort, linesOf, ndjson } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

const MAX_LINE = 2_000;
let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 20, maxJsonBytes: MAX_LINE, requestTimeoutSeconds: 1 });
});
afterAll(async () => {
  await api.close();
});
afterEach(async () => {
  for (const lane of ['ingestion-quick', 'ingestion-groups'] as const) await api.jobs.queue(lane).drain();
});

const headers = { 'Content-Type': 'application/x-ndjson', Prefer: 'respond-async' };
const ingest = (body: string | Uint8Array<ArrayBuffer>): Promise<ApiAnswer> =>
  api.request('/ingest/batch', { method: 'POST', body, headers, token });

const head = [
  'POST /ingest/batch HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/x-ndjson',
  'Prefer: respond-async',
  'Transfer-Encoding: chunked',
].join('\r\n');
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const listed = async () => (await api.redis.get('quire:sequence')) ?? '0';

describe('POST /ingest/batch with lines', () => {
  test('answers one line for each line, in order', async () => {
    const answer = await ingest(
      ndjson(Array.from({ length: 300 }, (_, i) => ({ content: `t ${String(i)}` }))),
    );
    expect(answer.status).toBe(202);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(answer.headers.get('preference-applied')).toBe('respond-async');
    expect(linesOf(answer.text).map(inShort)).toEqual(Array.from({ length: 300 }, (_, i) => [i, 'queued']));
  });

  test('counts blank lines, answers them not, and needs no end of the last line', async () => {
    const answer = await ingest('\n{"content": "a"}\r\n  \t\r\n{"content": "b"}');
    expect(linesOf(answer.text).map(inShort)).toEqual([
      [1, 'queued'],
      [3, 'queued'],
    ]);
    expect(await ingest('\n\n')).toMatchObject({ status: 200, text: '' });
    expect(await ingest('')).toMatchObject({ status: 200, text: '' });
  });

  test('gives wrong lines their errors, and lets the others in', async () => {
    const long = { content: 'x'.repeat(MAX_LINE) };
    const lines = [
      ndjson([{ content: 'good' }]),
      '{"content": "no end\n',
      ndjson([long]),
      '{"content": "\xff"}\n',
      ndjson([{ content: 'a', metadata: { a: '\udc00' } }]),
      ndjson([{ content: 7 }]),
      '[]\n',
      ndjson([{ content: 'good' }]),
      ndjson([long]).trimEnd(),
    ];
    const answer = await ingest(new Uint8Array(Buffer.from(lines.join(''), 'latin1')));
    expect(linesOf(answer.text).map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'value_error.jsondecode'],
      [2, 'value_error.too_large'],
      [3, 'value_error.jsondecode'],
      [4, 'value_error.str.surrogate'],
      [5, 'type_error.str'],
      [6, 'type_error.dict'],
      [7, 'queued'],
      [8, 'value_error.too_large'],
    ]);
  });

  test('reads lines that arrive byte by byte, and answers before the end', async () => {
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(`${head}\r\n\r\n`);
    for (const byte of '{"content": "é"}\n') socket.write(chunk(byte));
    await seen(/HTTP\/1.1 202 [^]*"index":0,"status":"queued"/);
    socket.write(chunk('{"content": "again"}\n'));
    await seen(/"index":1,"status":"queued"/);
    socket.write('0\r\n\r\n');
    await seen(/\r\n0\r\n\r\n$/);
    socket.destroy();
  });

  test('may take longer than a request with one body', async () => {
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(`${head}\r\n\r\n`);
    for (let i = 0; i < 8; i += 1) {
      socket.write(chunk('{"content": "now and then"}\n'));
      await seen(new RegExp(`"index":${String(i)},`));
      await sleep(400);
    }
    socket.write('0\r\n\r\n');
    await seen(/\r\n0\r\n\r\n$/);
    socket.destroy();
  });

  test('leaves what was acknowledged, and nothing of a line that broke off', async () => {
    const before = await listed();
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(`${head}\r\n\r\n${chunk('{"content": "whole"}\n')}`);
    const answer = await seen(/"document_id":"[^"]+"/);
    socket.write(chunk('{"content": "half"}'));
    socket.destroy();
    const id = /"document_id":"([^"]+)"/.exec(answer)?.[1] ?? '';
    expect((await api.request(`/documents/${id}`, { token })).status).toBe(200);
    const jobs = api.jobs.queue('ingestion-quick');
    await until(async () => (await jobs.getPrioritizedCount()) === 1);
    expect(Number(await listed()) - Number(before)).toBe(1);
    expect((await api.request(`/documents/${id}/download`, { token })).text).toBe('whole');
  });
});
