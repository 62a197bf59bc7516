import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { documentView } from '../../../../src/api/routes/document-view.js';
import { makeToken, type ApiAnswer } from '../../../support/api.js';
import { startDocumentApi, type DocumentApi } from '../../../support/document-api.js';

const MAX_BYTES = 200_000;
let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  api = await startDocumentApi({ maxFileBytes: MAX_BYTES, waitSeconds: 0 });
});
afterAll(async () => {
  await api.close();
});

type Part = readonly [name: string, value: string | Blob, filename?: string];

const upload = (parts: readonly Part[], as = token): Promise<ApiAnswer> => {
  const form = new FormData();
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, filename);
  }
  return api.request('/ingest/file', { method: 'POST', body: form, token: as });
};
const text = (content: string, type = '') => new Blob([content], { type });
const documentOf = (answer: ApiAnswer) => documentView.parse(answer.body);

/** A multipart body written out, lines ended as they must be. */
const written = (lines: readonly string[]) => lines.join('\r\n');
const raw = (body: string | Buffer, contentType = 'multipart/form-data; boundary=b') =>
  api.request('/ingest/file', { method: 'POST', body, headers: { 'Content-Type': contentType }, token });

describe('POST /ingest/file', () => {
  test('stores the file and describes it', async () => {
    const answer = await upload([
      ['file', text('# Title\n\nWords.'), 'notes.md'],
      ['metadata', '{"category": "notes", "n": [1, 2]}'],
      ['access_control', '{"readers": ["bob"], "admins": null}'],
    ]);
    const document = documentOf(answer);
    expect(answer.status).toBe(202);
    expect(document).toMatchObject({
      content_type: 'text/markdown',
      filename: 'notes.md',
      metadata: { category: 'notes', n: [1, 2] },
      access_control: { readers: ['alice', 'bob'], writers: ['alice'], admins: ['alice'] },
      system_metadata: { size_bytes: 15 },
    });
    expect(document.storage_info).toEqual({
      bucket: 'disk',
      key: expect.stringMatching(`/${document.external_id}-1-`),
    });
    expect(await api.storedFiles()).toHaveLength(1);
    const download = await api.request(`/documents/${document.external_id}/download`, { token });
    expect(download.text).toBe('# Title\n\nWords.');
  });

  test('takes the fields in any order, and fields that were sent like files', async () => {
    const answer = await upload([
      ['access_control', '{"writers": ["bob"]}'],
      ['unknown', 'ignored'],
      ['metadata', text('{"first": true}', 'application/json'), 'blob'],
      ['file', text('body'), 'a.txt'],
      ['other', text('ignored'), 'b.txt'],
    ]);
    expect(answer.status).toBe(202);
    expect(documentOf(answer)).toMatchObject({
      metadata: { first: true },
      access_control: { writers: ['alice', 'bob'] },
      filename: 'a.txt',
      system_metadata: { size_bytes: 4 },
    });
  });

  test.each(['null', ' {} '])('takes metadata %j as none', async (metadata) => {
    const answer = await upload([
      ['file', text('body'), 'a.txt'],
      ['metadata', metadata],
    ]);
    expect(documentOf(answer).metadata).toEqual({});
  });

  test.each([
    ['naïve café 日本語 😀.txt', 'naïve café 日本語 😀.txt'],
    ['../../etc/passwd.txt', 'passwd.txt'],
    ['C:\\Users\\me\\report.txt', 'report.txt'],
    [`${'a'.repeat(251)}.txt`, `${'a'.repeat(251)}.txt`],
  ])('shows the file name %j as %j', async (sent, shown) => {
    const answer = await upload([['file', text('body'), sent]]);
    expect(documentOf(answer).filename).toBe(shown);
  });

  test('understands an encoded file name, and prefers it', async () => {
    const disposition = `form-data; name="file"; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve%20%1b.txt`;
    const answer = await raw(
      written(['--b', `Content-Disposition: ${disposition}`, '', 'body', '--b--', '']),
    );
    expect(documentOf(answer).filename).toBe('naïve .txt');
  });

  test.each([
    ["windows-1252''%8050%20%96%20na%EFve.txt", '€50 – naïve.txt'],
    ["ISO-8859-1'de'%8050%20Gr%F6%DFe.txt", '€50 Größe.txt'],
    ["Shift_JIS'ja'%93%FA%96%7B.txt", '日本.txt'],
    ["utf-8''%C3%A9.txt", 'é.txt'],
    ["x-unknown''%E9.txt", 'plain.txt'],
    ["UTF-8''report%20%281%29%20it%27s%2A.txt", "report (1) it's*.txt"],
    ["cp437''%82.txt", 'é.txt'],
    ["iso-2022-jp''%1B$B$%22%1B%28B.txt", 'あ.txt'],
    ["UTF-8''", 'plain.txt'],
    // Half a character, which no URI can hold, and no charset of texts.
    ["utf-16le''%00%D8%2E%00t%00x%00t%00", '\ufffd.txt'],
    ["base64''YWJj.txt", 'plain.txt'],
  ])('understands the file name %j in the charset that it names', async (encoded, shown) => {
    const disposition = `form-data; name="file"; filename="plain.txt"; filename*=${encoded}`;
    const answer = await raw(
      written(['--b', `Content-Disposition: ${disposition}`, '', 'body', '--b--', '']),
    );
    expect(answer.status).toBe(202);
    expect(documentOf(answer).filename).toBe(shown);
  });

  test('reads the name in an unknown charset as UTF-8 where there is no other', async () => {
    const disposition = `form-data; name="file"; filename*=x-unknown''%C3%A9%E9.txt`;
    const answer = await raw(
      written(['--b', `Content-Disposition: ${disposition}`, '', 'body', '--b--', '']),
    );
    expect(documentOf(answer).filename).toBe('é\ufffd.txt');
  });

  test('leaves a file name alone that only looks like one in another charset', async () => {
    const name = "a*=windows-1252''%80.txt";
    const disposition = `form-data; name="file"; filename="${name}"`;
    const answer = await raw(
      written(['--b', `Content-Disposition: ${disposition}`, '', 'body', '--b--', '']),
    );
    expect(documentOf(answer).filename).toBe(name);
  });

  test('tells the type by content first, then by extension', async () => {
    const pdf = await upload([['file', text('%PDF-1.7\n…', 'text/plain'), 'a.txt']]);
    const html = await upload([['file', text('<!doctype html><p>x', 'application/json'), 'a']]);
    const csv = await upload([['file', text('a,b\n1,2', 'application/octet-stream'), 'a.csv']]);
    const types = [pdf, html, csv].map((answer) => documentOf(answer).content_type);
    expect(types).toEqual(['application/pdf', 'text/html', 'text/csv']);
  });

  test('takes a file of just the largest size', async () => {
    const answer = await upload([['file', text('x'.repeat(MAX_BYTES)), 'a.txt']]);
    expect(documentOf(answer).system_metadata.size_bytes).toBe(MAX_BYTES);
  });
});

describe('an upload that is refused', () => {
  let before: string[] = [];
  beforeAll(async () => {
    before = await api.storedFiles();
  });
  afterEach(async () => {
    expect(await api.storedFiles()).toEqual(before);
  });

  test.each(['{', '[1]', '"text"', '7', '', '{"a": NaN}'])('400 for metadata %j', async (metadata) => {
    for (const order of [0, 1]) {
      const parts: Part[] = [['metadata', metadata]];
      parts.splice(order, 0, ['file', text('body'), 'a.txt']);
      const answer = await upload(parts);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ detail: 'Invalid metadata JSON' });
    }
  });

  test('400 for access lists that are no JSON', async () => {
    const answer = await upload([['access_control', 'alice']]);
    expect([answer.status, answer.body]).toEqual([400, { detail: 'Invalid access_control JSON' }]);
  });

  test('422 for metadata and access lists over their limits', async () => {
    for (const size of [16 * 1024, 1_000_000]) {
      const large = await upload([
        ['file', text('body'), 'a.txt'],
        ['metadata', JSON.stringify({ text: 'x'.repeat(size) })],
      ]);
      expect(large.status).toBe(422);
      expect(large.body).toMatchObject({ detail: [{ loc: ['body', 'metadata'] }] });
    }
    const many = await upload([
      ['access_control', JSON.stringify({ readers: Array.from({ length: 1001 }, () => 'a') })],
    ]);
    expect(many.body).toMatchObject({ detail: [{ loc: ['body', 'access_control', 'readers'] }] });
  });

  test('422 for a missing file, whatever else there is', async () => {
    const missing = { loc: ['body', 'file'], msg: 'field required', type: 'value_error.missing' };
    const answers = [
      await upload([['metadata', '{}']]),
      await upload([['file', 'not sent as a file']]),
      await upload([['document', text('x'), 'a.txt']]),
      await api.request('/ingest/file', { method: 'POST', token }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.body).toEqual({ detail: [missing] });
    }
  });

  test('422 for a second file, with the route that takes several', async () => {
    const answer = await upload([
      ['file', text('one'), 'a.txt'],
      ['file', text('two'), 'b.txt'],
    ]);
    expect(answer.status).toBe(422);
    const msg = 'only one file is expected; POST /ingest/files takes several, as parts named files';
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'file'], msg }] });
  });

  test('415 for a type that is not known, with those that are', async () => {
    const answer = await upload([['file', new Blob([Buffer.alloc(70_000, 7)]), 'image.bin']]);
    expect(answer.status).toBe(415);
    expect(answer.body).toEqual({ detail: expect.stringMatching(/text\/plain.*application\/pdf/) });
  });

  test('415 for a body that is no multipart at all', async () => {
    expect((await raw('{}', 'application/json')).status).toBe(415);
  });

  test('415 for a body that is said to be compressed', async () => {
    const body = written([
      '--b',
      'Content-Disposition: form-data; name="file"; filename="a.txt"',
      '',
      'x',
      '--b--',
      '',
    ]);
    const answer = await api.request('/ingest/file', {
      method: 'POST',
      body,
      token,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Encoding': 'gzip' },
    });
    expect(answer.status).toBe(415);
  });

  test('413 for one byte too many', async () => {
    const answer = await upload([['file', text('x'.repeat(MAX_BYTES + 1)), 'a.txt']]);
    expect(answer.status).toBe(413);
  });

  test('400 for bodies that are malformed or cut off', async () => {
    const head = ['--b', 'Content-Disposition: form-data; name="file"; filename="a.txt"', ''];
    const answers = [
      await raw('x', 'multipart/form-data'),
      await raw('nothing of the kind'),
      await raw(''),
      await raw(written(['--b', 'Content Disposition: x', '', 'x', '--b--', ''])),
      await raw(written([...head, 'cut off'])),
      await raw(written([...head, 'x', '--b', 'Content-Disposition: form-data; name="metadata"'])),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.body]).toEqual([400, { detail: 'Malformed multipart body' }]);
    }
  });

  test('400 for more fields than any form has', async () => {
    const parts = Array.from({ length: 100 }, (_, i): Part => [`field${String(i)}`, 'x']);
    expect((await upload(parts)).status).toBe(400);
  });

  test('403 without the write permission', async () => {
    const reader = makeToken({ permissions: ['read'] });
    expect((await upload([['file', text('x'), 'a.txt']], reader)).status).toBe(403);
  });
});
