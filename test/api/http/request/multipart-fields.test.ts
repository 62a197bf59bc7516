import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { z } from 'zod';
import { makeToken, type ApiAnswer } from '../../../support/api.js';
import { startDocumentApi, type DocumentApi } from '../../../support/document-api.js';

const LENGTH = 400_000;

const printed = z.object({ taken: z.number(), dropped: z.number(), values: z.array(z.number().nullable()) });

test('fields that come in pieces of one byte take about their length of memory, and none beyond their limit', async () => {
  const url = new URL('../../../../dist/api/http/request/upload.js', import.meta.url).href;
  const program = `
    import { createServer } from 'node:http';
    import { connect } from 'node:net';
    import { once } from 'node:events';
    const { createUploadReceiver } = await import(${JSON.stringify(url)});
    let claimed = 0;
    let received = 0;
    let result;
    const values = [];
    const claim = { grow: (size) => { claimed = size; }, whileReading: () => () => undefined };
    const target = {
      maxFileBytes: 1e7,
      fields: { long: 1e6, short: 1000 },
      tooLarge: () => new Error('too large'),
      storeFile: () => Promise.resolve(null),
      onField: (name, value) => values.push(value === null ? null : value.length),
    };
    const server = createServer((request) => {
      request.on('data', (part) => { received += part.length; });
      result = createUploadReceiver(request, { onReading: () => {}, claim, graceSeconds: 60, ignored: { note() {} } })(target);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const memory = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    const client = connect(server.address().port, '127.0.0.1');
    client.write('POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: multipart/form-data; boundary=b\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n');
    let sent = 0;
    const send = (text) => { sent += text.length; return client.write(text.length.toString(16) + '\\r\\n' + text + '\\r\\n'); };
    const arrive = async () => { while (received < sent) await new Promise((resolve) => setTimeout(resolve, 5)); };
    const piece = '1\\r\\na\\r\\n'.repeat(1000);
    // A field that is sent like a file is read piece by piece.
    const field = async (name) => {
      send('--b\\r\\nContent-Disposition: form-data; name="' + name + '"; filename="x"\\r\\n\\r\\n');
      await arrive();
      const before = memory();
      for (let at = 0; at < ${String(LENGTH)}; at += 1000) {
        sent += 1000;
        if (!client.write(piece)) await once(client, 'drain');
      }
      await arrive();
      const taken = memory() - before;
      send('\\r\\n');
      return taken;
    };
    await field('other');
    const taken = await field('long');
    const dropped = await field('short');
    send('--b--\\r\\n');
    client.write('0\\r\\n\\r\\n');
    await result;
    console.log(JSON.stringify({ taken, dropped, values }));
    process.exit();`;
  const options = ['--expose-gc', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  const { taken, dropped, values } = printed.parse(JSON.parse(stdout));
  expect(values).toEqual([LENGTH, null]);
  // Kept one by one, they take more than fifty times their length.
  expect(taken).toBeLessThan(6 * LENGTH);
  expect(dropped).toBeLessThan(LENGTH);
}, 60_000);

let api: DocumentApi;
beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(() => api.close());

function send(parts: readonly (string | Buffer)[]): Promise<ApiAnswer> {
  const file = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nwords';
  const lines = [...parts, file].flatMap((part) => ['--b\r\n', part, '\r\n']);
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  return api.request('/ingest/file', {
    method: 'POST',
    body: Buffer.concat([...lines, '--b--\r\n'].map((line) => Buffer.from(line))),
    headers,
    token: makeToken(),
  });
}
const field = (name: string, value = '1') => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
const like = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"; filename="x"\r\n\r\n${value}`;

test('a form has fewer than 64 parts, of whatever kind', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => field(`n${String(n)}`));
  expect((await send(many(62))).status).toBe(202);
  for (const parts of [many(63), many(5_000), Array.from({ length: 63 }, () => like('n', '1'))]) {
    const { status, body } = await send(parts);
    expect([status, body]).toEqual([400, { detail: 'Too many form fields' }]);
  }
});

test('names that are long or are those of object members are skipped as others are', async () => {
  const names = ['x'.repeat(8_000), '__proto__', 'constructor', 'toString', ''];
  for (const name of names) {
    expect([name.slice(0, 20), (await send([field(name), like(name, '1')])).status]).toEqual([
      name.slice(0, 20),
      202,
    ]);
  }
  // Beyond what the head of a part may hold.
  expect((await send([field('x'.repeat(100_000))])).status).toBe(400);
});

test('a field sent like a file is held to the same limit as a plain one', async () => {
  for (const part of [field, like]) {
    const blank = (length: number) => part('metadata', `${' '.repeat(length - 2)}{}`);
    expect((await send([blank(128 * 1024)])).status).toBe(202);
    const { status, body } = await send([blank(128 * 1024 + 1)]);
    expect([status, body]).toMatchObject([422, { detail: [{ loc: ['body', 'metadata'] }] }]);
  }
});

describe.each([
  ['a plain field', ''],
  ['a field sent like a file', '; filename="x"'],
])('%s', (_, filename) => {
  test.each([
    ['text/plain; charset=windows-1251', 'windows-1251', 'да'],
    ['text/plain;Charset="ISO-8859-1"', 'latin1', 'Größe'],
    ['application/json; charset=x-unknown', 'utf8', 'Größe'],
    ['application/json; charset=base64', 'utf8', 'Größe'],
    ['text/plain; charset=utf-8; format=flowed', 'utf8', 'Größe'],
  ])(
    'of the type %j is read in its charset, or in UTF-8 where nobody knows it',
    async (type, charset, word) => {
      const head = `Content-Disposition: form-data; name="metadata"${filename}\r\nContent-Type: ${type}\r\n\r\n`;
      const part = [head, '{"word":"', iconv.encode(word, charset), '"}'].map((each) => Buffer.from(each));
      const { status, body } = await send([Buffer.concat(part)]);
      expect([status, body]).toMatchObject([202, { metadata: { word } }]);
    },
  );
});
