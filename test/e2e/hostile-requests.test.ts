import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { strToU8 } from 'fflate';
import { createClient, type Client } from '../support/client.js';
import { isRunning, processorSeconds } from '../support/processes.js';
import { openRaw } from '../support/raw-http.js';
import { LIMITED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

/** Dev mode knows a caller without a token, who is the same in all files: no other one that shares this service is him. */
const service = useService({ env: LIMITED });
let client: Client;
let loggedBefore = 0;

beforeAll(async () => {
  client = createClient(service.url);
  loggedBefore = (await service.apiOutput()).length;
});

const port = () => Number(new URL(service.url).port);

describe('a request that is', () => {
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = json) =>
    fetch(`${service.url}${path}`, { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers });

  /** Its answer in JSON, which must not take the API long. */
  async function answered(asking: Promise<Response>) {
    const { pid } = service.api;
    const before = await processorSeconds(pid);
    const response = await asking;
    const body = (await response.json()) as { detail: unknown };
    expect((await processorSeconds(pid)) - before).toBeLessThan(5);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-request-id')).toMatch(/./);
    expect(Object.keys(body)).toEqual(['detail']);
    return { status: response.status, detail: body.detail };
  }

  test('too large names /ingest/file, and is known by its first byte too many', async () => {
    const large = await answered(post('/ingest/text', `{"content":"${'x'.repeat(8 * 1024 * 1024)}"}`));
    expect(large).toEqual({ status: 413, detail: expect.stringContaining('/ingest/file') });
  });

  test.each([
    ['brackets without end', '/ingest/text', '['.repeat(5_000_000), 422],
    ['objects without end', '/retrieve/chunks', '{"a":'.repeat(350_000), 422],
    ['more than any search needs', '/retrieve/chunks', '{"a":'.repeat(1_000_000), 413],
    [
      'a filter without end',
      '/query',
      `{"query":"x","filters":${'{"$not":'.repeat(190)}1${'}'.repeat(191)}`,
      422,
    ],
    ['half a document', '/ingest/text', '{"content":"x', 422],
    ['no UTF-8', '/ingest/text', Buffer.from([0x22, 0xff, 0x22]), 422],
    ['null', '/ingest/text', 'null', 422],
    ['a list', '/retrieve/docs', '[]', 422],
    [
      'all of the wrong type',
      '/query',
      '{"query":[],"k":"4","min_score":"0","max_tokens":1.5,"temperature":true}',
      422,
    ],
  ])('%s is refused', async (_, path, body, status) => {
    expect((await answered(post(path, body))).status).toBe(status);
  });

  test.each([
    ['text', 'text/plain'],
    ['XML', 'application/xml'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['a multipart form', 'multipart/form-data; boundary=b'],
    ['JSON in UTF-16', 'application/json; charset=utf-16'],
  ])('said to be %s where JSON is asked for is a 415', async (_, type) => {
    expect((await answered(post('/ingest/text', '{"content":"x"}', { 'content-type': type }))).status).toBe(
      415,
    );
  });

  test.each([
    ['a zero', '/documents/%00'],
    ['an id and a zero', '/documents/00000000-0000-4000-8000-000000000000%00'],
    ['a path', '/documents/..%2f..%2fjwt-secret/download'],
    ['a folder', '/documents/%2e%2e/status'],
    ['a very long word', `/documents/${'a'.repeat(8_000)}`],
    ['an emoji', '/documents/%F0%9F%92%A3/chunks'],
    ['a star', '/documents/*'],
    ['no encoding', '/documents/%zz'],
    ['a path, to be downloaded', '/downloads/..%2fjwt-secret'],
  ])('for %s in place of an id finds nothing', async (_, path) => {
    expect([403, 404, 422]).toContain((await answered(fetch(`${service.url}${path}`))).status);
  });

  test('of ten thousand headers, or of a query without end, is a 431', async () => {
    const headers = Array.from({ length: 10_000 }, (_, n) => `X-${String(n)}: a\r\n`).join('');
    for (const text of [
      `GET /documents HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`,
      `GET /documents?filters=${'x'.repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    ]) {
      const { socket, until } = await openRaw(port());
      socket.write(text);
      await until(/^HTTP\/1.1 431 [^]*\{"detail":"[^"]+"\}$/);
      socket.destroy();
    }
  });

  test('dripped byte by byte is cut off, wherever it drips, and leaves nothing behind', async () => {
    const before = await storedFiles();
    const head = (type: string) =>
      `POST /ingest/file HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 100000\r\n\r\n`;
    const upload = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
    const starts = [
      'GET /documents HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
      'POST /ingest/text HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{"',
      `${head('multipart/form-data; boundary=b')}${upload}`,
    ];
    const ends = starts.map(async (start) => {
      const { socket, closed } = await openRaw(port());
      socket.write(start);
      const drip = setInterval(() => socket.write('a'), 200);
      const received = await closed();
      clearInterval(drip);
      return received.split('\r\n')[0];
    });
    expect(await Promise.all(ends)).toEqual(starts.map(() => 'HTTP/1.1 408 Request Timeout'));
    // Remains of other files may go meanwhile.
    const added = async () => (await storedFiles()).filter((name) => !before.includes(name));
    await until(async () => (await added()).length === 0);
  });

  test('a flood of them at once is answered, each as it deserves', async () => {
    const asked = Array.from({ length: 200 }, (_, n) =>
      n % 2 === 0
        ? client.get<unknown>('/documents?limit=101')
        : client.post<unknown>('/retrieve/chunks', {}),
    );
    const statuses = new Set((await Promise.all(asked)).map(({ status }) => status));
    expect([...statuses]).toEqual([422]);
    expect(await client.get('/health/ready')).toMatchObject({ status: 200 });
  });
});

describe('a file', () => {
  test.each(['😀 naïve 日本語.txt', 'שלום.md', 'a b+c%20d&e=f;g.txt', "l'été.txt", '.hidden.txt'])(
    'named %s keeps its name wherever it is shown',
    async (filename) => {
      const { status, body } = await client.ingestFile(strToU8(`Of ${filename}`), filename);
      expect([status, body.filename]).toEqual([200, filename]);
      const filters = { filename };
      const [found] = (await client.searchChunks('of', { filters })).body;
      expect(found).toMatchObject({ document_id: body.external_id, filename });
      const download = await fetch(found?.download_url ?? '');
      const [, encoded = ''] =
        /filename\*=UTF-8''(\S+)/.exec(download.headers.get('content-disposition') ?? '') ?? [];
      expect([await download.text(), decodeURIComponent(encoded)]).toEqual([`Of ${filename}`, filename]);
    },
  );

  test.each(['../../../etc/cron.d/x.txt', '..\\..\\x.txt', '/etc/x.txt', 'C:\\x.txt', '....//x.txt'])(
    'named %s is stored where all are, under its last name',
    async (filename) => {
      const { body } = await client.ingestFile(strToU8('Travels.'), filename);
      expect(body.filename).toBe('x.txt');
      expect(body.storage_info.key).toMatch(/^\d{4}-\d\d-\d\dT\d\d\/[0-9a-f-]{36}-1-[\w-]+$/);
    },
  );

  test.each([
    ['UTF-8', Buffer.from('\ufeffGrüße aus Köln 😀', 'utf8')],
    ['UTF-16 (little)', Buffer.from('\ufeffGrüße aus Köln 😀', 'utf16le')],
    ['UTF-16 (big)', Buffer.from('\ufeffGrüße aus Köln 😀', 'utf16le').swap16()],
  ])('with the byte order mark of %s is read without it', async (_, bytes) => {
    const { body } = await client.ingestFile(bytes, 'greetings.txt');
    const chunks = await client.get<{ content: string }[]>(`/documents/${body.external_id}/chunks`);
    expect(chunks.body.map(({ content }) => content)).toEqual(['Grüße aus Köln 😀']);
  });
});

test('none of this was a 500, and no process was lost', async () => {
  for (const { pid } of [service.api, service.worker]) expect(isRunning(pid)).toBe(true);
  expect((await service.apiOutput()).slice(loggedBefore)).not.toMatch(/"status":500/);
});

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(join(service.dataDirectory, 'objects'), {
    recursive: true,
    withFileTypes: true,
  });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/markers'))
    .map(({ name }) => name);
}
