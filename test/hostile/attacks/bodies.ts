import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../support/client.js';
import { openRaw } from '../../support/raw-http.js';
import { isSane, observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';
import { closeAll, openMany, statusLine, untilHeard } from '../connections.js';
import { CONNECTIONS_PER_ADDRESS } from './connections.js';

const MEGABYTES_8 = 8 * 1024 * 1024;

async function holdBodies({ port, isShort, slowness }: Target, path: string, type: string) {
  const count = isShort ? 40 : 100;
  const body = Buffer.alloc(MEGABYTES_8 - 1, 'a');
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${String(MEGABYTES_8)}\r\n\r\n`;
  const connections = await openMany(port, count);
  for (const { socket } of connections) socket.write(head);
  for (const { socket } of connections) socket.write(body);
  await untilHeard(connections, 4 * slowness);
  const statuses = connections.map(({ received }) => statusLine(received()));
  closeAll(connections);
  return statuses;
}

const post = (
  url: string,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
) => statusOf(fetch(url + path, { method: 'POST', body, headers }));

const json = (name: string, path: string, body: () => string): Attack => ({
  name: `JSON: ${name}`,
  run: async ({ url, attacker }) => {
    const headers = { authorization: attacker.authorization, 'content-type': 'application/json' };
    const text = body();
    const asked = Array.from({ length: 4 }, () => post(url, path, text, headers));
    return observed(await Promise.all(asked), oneOf(413, 422));
  },
});

const multipart = (name: string, type: string, body: string | Uint8Array<ArrayBuffer>): Attack => ({
  name: `multipart: ${name}`,
  run: async ({ url, attacker }) => {
    const headers = { authorization: attacker.authorization, 'content-type': type };
    const asked = Array.from({ length: 3 }, () => post(url, '/ingest/file', body, headers));
    return observed(await Promise.all(asked), isSane);
  },
});

const FORM = 'multipart/form-data; boundary=b';
const part = (disposition: string, body: string, more = '') =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${body}\r\n`;
const file = part('name="file"; filename="a.txt"', 'Some text.');

/** Connections of the canary and of the attack beside this one, which have the same address. */
const OTHER_CONNECTIONS = 60;

/** Their headers end after fifteen seconds. Connections beyond the share of their address are refused at once, and no others. */
export const drippingConnections: Attack = {
  name: 'connections that drip a byte a second',
  run: async ({ port, isShort }) => {
    const count = isShort ? 100 : 500;
    const connections = await openMany(port, count);
    for (const { socket } of connections)
      socket.write('POST /ingest/text HTTP/1.1\r\nHost: localhost\r\nX: ');
    const drip = setInterval(
      () => connections.forEach(({ socket }) => socket.writable && socket.write('a')),
      1_000,
    );
    // Headers have fifteen seconds.
    const end = performance.now() + 40_000;
    while (performance.now() < end && !connections.every(({ socket }) => socket.closed)) await sleep(100);
    clearInterval(drip);
    const statuses = connections.map(({ socket, received }) =>
      socket.closed ? statusLine(received()) : 'open',
    );
    closeAll(connections);
    const beyond = Math.max(0, count - (CONNECTIONS_PER_ADDRESS - OTHER_CONNECTIONS));
    const refused = statuses.filter((status) => status === 503).length;
    const { answer, wrong } = observed(statuses, oneOf(408, 503, 'silent'));
    const early =
      refused > beyond ? `${String(refused)} refused, where ${String(beyond)} have no room` : null;
    return { answer, wrong: wrong ?? early };
  },
};

export const bodyAttacks: readonly Attack[] = [
  {
    name: 'anonymous bodies of 8 MiB, one byte short, for /local/generate_uri',
    growth: 120,
    // Refused by their length, or held without their bytes.
    run: async (target) =>
      observed(
        await holdBodies(target, '/local/generate_uri', 'application/json'),
        oneOf(401, 413, 429, 503),
      ),
  },
  {
    name: 'anonymous bodies of 8 MiB, one byte short, for /query',
    growth: 120,
    run: async (target) =>
      observed(await holdBodies(target, '/query', 'application/json'), oneOf(401, 413, 503)),
  },
  {
    name: 'bodies of 8 MiB of a caller with a token, all at once',
    growth: 700,
    run: async ({ attacker, isShort }) => {
      // Nobody's quarter of the body budget holds more than four of them; metadata of that size is a 422.
      const body = { content: 'x', metadata: { a: 'x y '.repeat(2_000_000) } };
      const asked = Array.from({ length: isShort ? 10 : 40 }, () =>
        statusOf(attacker.post('/ingest/text', body)),
      );
      return observed(await Promise.all(asked), oneOf(422, 503));
    },
  },
  json('brackets without end', '/ingest/text', () => '['.repeat(5_000_000)),
  json('objects without end', '/retrieve/chunks', () => '{"a":'.repeat(1_000_000)),
  json('a query of eight million letters', '/query', () => `{"query":"${'x'.repeat(8_000_000)}"}`),
  json('a number of eight million digits', '/query', () => `{"query":"x","k":${'9'.repeat(8_000_000)}}`),
  json('metadata with a million keys', '/ingest/text', () => {
    const entries = Array.from({ length: 500_000 }, (_, i) => `"k${String(i)}":1`);
    return `{"content":"x","metadata":{${entries.join()}}}`;
  }),
  multipart('no boundary', 'multipart/form-data', file),
  multipart('an endless boundary', `multipart/form-data; boundary=${'b'.repeat(10_000)}`, file),
  multipart('no end', FORM, file),
  multipart('ten thousand parts', FORM, `${part('name="x"', '').repeat(10_000)}${file}--b--\r\n`),
  multipart('two files', FORM, `${file}${file}--b--\r\n`),
  multipart(
    'headers of a megabyte',
    FORM,
    `${part('name="file"; filename="a.txt"', 'x', `X: ${'y'.repeat(1_000_000)}\r\n`)}--b--\r\n`,
  ),
  multipart(
    'metadata of ten megabytes',
    FORM,
    `${part('name="metadata"', `{"a":"${'y'.repeat(10_000_000)}"}`)}${file}--b--\r\n`,
  ),
  multipart(
    'forms within forms',
    FORM,
    `${part('name="file"', 'x', 'Content-Type: multipart/mixed; boundary=b\r\n')}--b--\r\n`,
  ),
  multipart('boundaries only', FORM, '--b\r\n'.repeat(200_000)),
  multipart('zeros', FORM, Buffer.alloc(5_000_000)),
  {
    name: 'ten thousand headers, cookies and words of a query',
    run: async ({ port }) => {
      const headers = Array.from({ length: 10_000 }, (_, n) => `X-${String(n)}: a\r\n`).join('');
      const texts = [
        `GET /health HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`,
        `GET /health HTTP/1.1\r\nHost: localhost\r\nCookie: ${'a=b;'.repeat(20_000)}\r\n\r\n`,
        `GET /documents?${'a&'.repeat(50_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      ];
      const statuses = texts.map(async (text) => {
        const { socket, closed } = await openRaw(port);
        socket.write(text);
        return statusLine(await closed());
      });
      return observed(await Promise.all(statuses), oneOf(431));
    },
  },
  {
    name: 'halves of surrogate pairs everywhere',
    run: async ({ attacker, as, url }) => {
      const half = '\ud800';
      const statuses = [
        statusOf(
          attacker.ingestText(`half ${half} of a pair`, { metadata: { [half]: half }, filename: half }),
        ),
        statusOf(attacker.searchChunks(half)),
        statusOf(attacker.searchChunks('x', { filters: { [half]: half } })),
        statusOf(attacker.post('/cache/create', { name: half, model: half, gguf_file: half, docs: [half] })),
        statusOf(attacker.ingestText('x', { access_control: { readers: [half] } })),
        statusOf(createClient(url, half).get('/documents')),
        statusOf(as(`${half}${half}`).ingestText('of nobody')),
        statusOf(attacker.get('/usage/recent')),
        statusOf(attacker.get('/usage/stats')),
      ];
      return observed(await Promise.all(statuses), (status) => isSane(status) && status !== 503);
    },
  },
];
