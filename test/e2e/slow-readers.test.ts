import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { postRaw } from '../support/post-raw.js';
import { residentBytes } from '../support/processes.js';
import type { RawConnection } from '../support/raw-http.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

const DOCUMENTS = 600;
const CLIENTS = 40;
const STALLED_SECONDS = 3;
const MEMORY_MEGABYTES = 64;
const MEGABYTE = 1024 ** 2;
const CUT_OFF = 'quire_http_clients_cut_off_total';

let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService({
    env: {
      QUIRE_API_STALLED_SECONDS: String(STALLED_SECONDS),
      QUIRE_API_ANSWER_MEMORY_MEGABYTES: String(MEMORY_MEGABYTES),
    },
  });
  client = createClient(service.url, 'alice');
  const metadata = { filler: 'x'.repeat(16_000) };
  const ingest = async (n: number) => {
    const { status } = await client.ingestText(`The heron number ${String(n)} stands in the reeds.`, {
      metadata,
    });
    expect(status).toBe(200);
  };
  for (let n = 0; n < DOCUMENTS; n += 30)
    await Promise.all(Array.from({ length: 30 }, (_, i) => ingest(n + i)));
});
afterAll(() => service.stop());

const SEARCH = { query: 'Where does the heron stand?', k: 1000 };

const ask = (path: string) => postRaw({ url: service.url, client, path, body: SEARCH });

async function figure(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Milliseconds that a small search takes. */
async function canary(): Promise<number> {
  const started = performance.now();
  expect((await client.searchChunks('Which heron?', { k: 1 })).status).toBe(200);
  return performance.now() - started;
}

interface Observed {
  resident: number;
  held: number;
  readonly canaries: number[];
}

/** Watches the API until it has cut clients off, and a second more. */
async function observe(): Promise<Observed> {
  const pid = service.api.child.pid ?? 0;
  const cutBefore = await figure(CUT_OFF);
  const most: Observed = { resident: 0, held: 0, canaries: [] };
  const end = performance.now() + 60_000;
  for (let left = 5; left > 0 && performance.now() < end;) {
    most.resident = Math.max(most.resident, await residentBytes(pid));
    most.held = Math.max(most.held, await figure('quire_answer_memory_bytes'));
    most.canaries.push(await canary());
    if ((await figure(CUT_OFF)) > cutBefore) left -= 1;
    await sleep(200);
  }
  expect(await figure(CUT_OFF)).toBeGreaterThan(cutBefore);
  return most;
}

test.each(['/retrieve/chunks', '/retrieve/docs'])(
  'forty clients that do not read %s hold little memory and nobody up, and are cut off',
  async (path) => {
    const before = await residentBytes(service.api.child.pid ?? 0);
    const connections = await Promise.all(Array.from({ length: CLIENTS }, () => ask(path)));
    for (const { socket } of connections) socket.pause();
    const most = await observe();
    expect(most.held).toBeGreaterThan(0);
    expect(most.held).toBeLessThan(MEMORY_MEGABYTES * MEGABYTE);
    // Forty answers made whole are 800 MB.
    expect(most.resident - before).toBeLessThan(5 * MEMORY_MEGABYTES * MEGABYTE);
    // All of them but those that a busy machine held up itself: who waits for the stalled ones waits for three seconds.
    const slow = most.canaries.filter((milliseconds) => milliseconds > 1_500);
    expect(slow.length).toBeLessThanOrEqual(Math.max(2, most.canaries.length / 10));

    for (const { socket } of connections) socket.resume();
    const answers = await Promise.all(connections.map((connection) => connection.closed()));
    expect(answers.filter(isWhole).length).toBeLessThan(CLIENTS);
    // A client that got nothing was told when to come again.
    for (const answer of answers.filter((each) => !/^(?:$|HTTP\/1\.1 200)/.test(each)))
      expect(answer).toMatch(/^HTTP\/1\.1 503[^]*Retry-After: \d+/);
    await until(async () => (await figure('quire_answer_memory_bytes')) === 0);
  },
);

const isWhole = (answer: string) => answer.endsWith('\r\n0\r\n\r\n');

test('a slow but steady reader gets the whole answer', async () => {
  const connection = await ask('/retrieve/chunks');
  await readSlowly(connection, 2 * STALLED_SECONDS);
  const text = connection.received();
  expect(isWhole(text)).toBe(true);
  expect(text.match(/"document_id"/g)).toHaveLength(DOCUMENTS);
  connection.socket.destroy();
});

/** Takes an answer of some 10 MB in about so many seconds. */
async function readSlowly({ socket, received, closed }: RawConnection, seconds: number): Promise<void> {
  const started = performance.now();
  const allowed = () => (DOCUMENTS * 16_500 * (performance.now() - started)) / (seconds * 1_000);
  socket.on('data', () => {
    if (received().length > allowed()) socket.pause();
  });
  const pace = setInterval(() => {
    if (received().length <= allowed()) socket.resume();
  }, 20);
  await sleep((seconds / 2) * 1_000);
  expect(isWhole(received())).toBe(false);
  await closed();
  clearInterval(pace);
}

test('other large answers are cut off, too, when nobody takes them', async () => {
  const large = await client.ingestText(
    // A text of few tokens.
    `${'-'.repeat(63)}\n`.repeat(60_000),
    {},
    { Prefer: 'wait=120' },
  );
  const id = (large.body satisfies WireDocument).external_id;
  const get = (path: string, repeat: number) =>
    postRaw({ url: service.url, client, path, method: 'GET', repeat });
  const downloads = () => [1, 2, 3].map(() => get(`/documents/${id}/download`, 4));
  for (const asking of [() => [...downloads(), get('/documents', 12)], downloads]) {
    const many = await Promise.all(asking());
    for (const { socket } of many) socket.pause();
    const before = await figure(CUT_OFF);
    await until(async () => (await figure(CUT_OFF)) >= before + many.length);
    for (const { socket } of many) socket.destroy();
  }
});
