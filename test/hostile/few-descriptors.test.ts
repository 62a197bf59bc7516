import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type Client } from '../support/client.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';
import { statusOf } from './attack.js';
import { answersOf, closeAll, holdUploads, searchOf } from './connections.js';

const DESCRIPTORS = 200;
/** The connections that the process can have with this many descriptors, and a quarter of them. */
const CONNECTIONS = 52;
const SHARE = 13;
const ATTACKERS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'] as const;
const QUERY = '{"query":"canary","k":1}';

let service: Service;
let port: number;
let caller: Client;
let attacker: Client;
let open: RawConnection[] = [];

beforeAll(async () => {
  service = await startService({ apiDescriptors: DESCRIPTORS });
  port = Number(new URL(service.url).port);
  caller = createClient(service.url, 'caller');
  attacker = createClient(service.url, 'attacker');
  await caller.ingestText('A canary sings.');
});
afterEach(async () => {
  closeAll(open);
  open = [];
  await until(async () => (await figure('quire_http_connections')) <= SHARE, 10);
});
afterAll(() => service.stop());

async function figure(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}

const hold = async (count: number, address: string) => {
  const held = await holdUploads({ port, caller: attacker }, count, address);
  open.push(...held);
  return held;
};
const refusals = (connections: readonly RawConnection[]) =>
  connections.filter(({ received }) => answersOf(503, received()) === 1);

/** Asks on a connection of its own, which stays open. */
async function ask(text: string, address: string): Promise<string> {
  const connection = await openRaw(port, address);
  open.push(connection);
  connection.socket.write(text);
  return connection.until(/^HTTP[^]*\r\n\r\n[^]*\}/);
}

describe('with few descriptors, who has more connections than there are', () => {
  test('keeps nobody else out, and is told that there are too many', async () => {
    const held = await hold(400, ATTACKERS[0]);
    await until(() => refusals(held).length === 400 - SHARE);
    for (const { received } of refusals(held)) {
      expect(received()).toMatch(/\r\nRetry-After: 2\r\n/i);
      expect(received()).toMatch(/\{"detail":"Too many connections(?: from this address)?"\}$/);
    }
    const statuses: (number | string)[] = [];
    for (let n = 0; n < 20; n += 1)
      statuses.push(
        await statusOf(caller.searchChunks('canary', { k: 1 })),
        await statusOf(caller.ingestFile(Buffer.from('Some text.'), 'some.txt')),
      );
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(service.api.output()).toContain('"shortage":"address"');
  });

  test('keeps operators not out either, from as many addresses as it needs', async () => {
    await fetch(`${service.url}/health`, { headers: { connection: 'close' } });
    for (const address of ATTACKERS) {
      const held = await hold(2 * SHARE, address);
      await until(() => refusals(held).length === SHARE);
    }
    expect(await figure('quire_http_connections')).toBeGreaterThanOrEqual(CONNECTIONS);
    for (const path of ['/health', '/health/ready', '/health/serving', '/metrics', '/admin/queues'])
      expect([path, await statusOf(fetch(`${service.url}${path}`))]).toEqual([path, 200]);
    // One of a fresh address gives them an answer, too.
    const answer = await ask(searchOf(caller, QUERY), '127.0.0.6');
    expect(answer).toMatch(
      /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 2\r\n[^]*\{"detail":"Too many connections"\}$/i,
    );
    closeAll(open);
    await until(async () => (await statusOf(caller.searchChunks('canary', { k: 1 }))) === 200);
  });
});

test('connections that are kept without a request leave an address room for new ones', async () => {
  for (let n = 0; n < 3 * CONNECTIONS; n += 1)
    expect(await ask(searchOf(caller, QUERY), '127.0.0.6')).toMatch(/^HTTP\/1\.1 200 /);
});

test('clients that say nothing give way to those that ask', async () => {
  for (const address of [...ATTACKERS, '127.0.0.6'])
    for (let n = 0; n < 2 * SHARE; n += 1) open.push(await openRaw(port, address));
  expect(await ask(searchOf(caller, QUERY), '127.0.0.6')).toMatch(/^HTTP\/1\.1 200 /);
});

test('a start with few descriptors is warned of', () => {
  expect(service.api.output()).toMatch(/"descriptors":200,"connections":52,"msg":"few descriptors/);
});
