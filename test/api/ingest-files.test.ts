import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { makeToken, type ApiAnswer } from '../support/api.js';
import { inShort, outcomesOf } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { until } from '../support/until.js';

const MAX_BYTES = 100_000;
let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  api = await startDocumentApi({ maxFileBytes: MAX_BYTES, maxBatchFiles: 5 });
});
afterAll(async () => {
  await api.close();
});
afterEach(async () => {
  await api.jobs.queue('ingestion-quick').drain();
});

type Part = readonly [field: string, value: string | Uint8Array<ArrayBuffer>, filename?: string];

const ingest = (...parts: Part[]): Promise<ApiAnswer> => {
  const form = new FormData();
  for (const [field, value, filename] of parts) {
    if (filename === undefined) form.append(field, String(value));
    else form.append(field, new Blob([value]), filename);
  }
  const headers = { Prefer: 'respond-async' };
  return api.request('/ingest/files', { method: 'POST', body: form, headers, token });
};
const document = async (id = '') => (await api.request(`/documents/${id}`, { token })).body;
const documentsOf = (answer: ApiAnswer) =>
  Promise.all(outcomesOf(answer.body).map(({ document_id: id }) => document(id)));

describe('POST /ingest/files', () => {
  test('stores each file with what a list says of it, whatever comes first', async () => {
    const answer = await ingest(
      ['files', 'one', 'one.txt'],
      ['metadata', '[{"a": 1}, null, {"a": 3}]'],
      ['files', '# two', 'two.md'],
      ['files', 'three', 'three.txt'],
      ['access_control', '[null, {"readers": ["bob"]}, {}]'],
    );
    expect(answer.status).toBe(202);
    expect(outcomesOf(answer.body).map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'queued'],
      [2, 'queued'],
    ]);
    const mine = ['alice'];
    expect(await documentsOf(answer)).toMatchObject([
      { filename: 'one.txt', metadata: { a: 1 }, access_control: { readers: mine } },
      { filename: 'two.md', metadata: {}, access_control: { readers: ['alice', 'bob'] } },
      { filename: 'three.txt', metadata: { a: 3 }, access_control: { readers: mine } },
    ]);
  });

  test('refuses what would be stored with each file and takes too much with all of them', async () => {
    const metadata = JSON.stringify({ long: 'x'.repeat(1024 ** 2) });
    const files = Array.from({ length: 5 }, (): Part => ['files', 'one', 'one.txt']);
    expect(await ingest(['metadata', metadata], ...files)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'metadata'], msg: 'for 5 files it may take at most 838860 bytes' }] },
    });
  });

  test('stores all files with what one object says of them', async () => {
    const answer = await ingest(
      ['metadata', '{"a": 1}'],
      ['files', 'one', 'one.txt'],
      ['files', 'two', 'two.txt'],
    );
    expect(await documentsOf(answer)).toMatchObject([{ metadata: { a: 1 } }, { metadata: { a: 1 } }]);
  });

  test('gives wrong files their errors, leaves nothing of them, and lets the others in', async () => {
    const before = (await api.storedFiles()).length;
    const answer = await ingest(
      ['files', 'x'.repeat(MAX_BYTES + 1), 'large.txt'],
      ['files', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1, 0]), 'program.exe'],
      ['files', 'y'.repeat(MAX_BYTES), 'good.txt'],
      ['files', 'named wrongly', 'wrong.txt'],
      ['metadata', '[{}, {}, {}, {"a": "\\ud800"}]'],
    );
    expect(outcomesOf(answer.body).map(inShort)).toEqual([
      [0, 'value_error.too_large'],
      [1, 'value_error.unsupported_type'],
      [2, 'queued'],
      [3, 'value_error.str.surrogate'],
    ]);
    expect((await api.storedFiles()).length).toBe(before + 1);
  });

  test.each<[string, Part[], number, unknown]>([
    ['without files', [['metadata', '{}']], 422, [{ loc: ['body', 'files'], type: 'value_error.missing' }]],
    [
      'with too many files',
      Array.from({ length: 6 }, (): Part => ['files', 'x', 'x.txt']),
      422,
      [{ loc: ['body', 'files'], type: 'value_error.list.max_items', ctx: { limit_value: 5 } }],
    ],
    [
      'with metadata that is no JSON',
      [
        ['files', 'x', 'x.txt'],
        ['metadata', '{'],
      ],
      400,
      'Invalid metadata JSON',
    ],
    [
      'with metadata that is a word',
      [
        ['files', 'x', 'x.txt'],
        ['metadata', '"a"'],
      ],
      400,
      'Invalid metadata JSON',
    ],
    [
      'with metadata for another number of files',
      [
        ['files', 'x', 'x.txt'],
        ['metadata', '[{}, {}]'],
      ],
      422,
      [{ loc: ['body', 'metadata'], type: 'value_error' }],
    ],
  ])('refuses a form %s as a whole, and leaves nothing', async (_, parts, status, detail) => {
    const before = (await api.storedFiles()).length;
    expect(await ingest(...parts)).toMatchObject({ status, body: { detail } });
    await until(async () => (await api.storedFiles()).length === before);
  });

  test('leaves nothing of a form that breaks off', async () => {
    const before = (await api.storedFiles()).length;
    const socket = connect(api.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const part = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n';
    socket.write(
      `${[
        'POST /ingest/files HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${token}`,
        'Content-Type: multipart/form-data; boundary=b',
        'Content-Length: 100000',
      ].join('\r\n')}\r\n\r\n${part}${'x'.repeat(1000)}\r\n${part}${'y'.repeat(1000)}`,
    );
    await until(async () => (await api.storedFiles()).length > before);
    socket.destroy();
    await until(async () => (await api.storedFiles()).length === before);
    expect(await api.jobs.queue('ingestion-quick').getPrioritizedCount()).toBe(0);
    expect(await api.usage.recent('alice', { limit: 10 })).toEqual([]);
  });
});
