import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import {
  connectionsWithin,
  createConnectionRoom,
  type ConnectionRoom,
} from '../../../../src/api/http/connections/limit-connections.js';
import { createApiServer } from '../../../../src/api/http/connections/server.js';
import { openRaw, type RawConnection } from '../../../support/raw-http.js';
import { until } from '../../../support/until.js';

const MAX = 20;
const [ONE, OTHER] = ['127.0.0.2', '127.0.0.3'];

let end: () => Promise<void> = () => Promise.resolve();
afterEach(() => end());

interface Options {
  readonly max?: number;
  readonly perAddress?: number;
  readonly reserve?: number;
  readonly proxy?: string;
}

/** A server that keeps requests for `/busy` waiting until `finish`. */
async function start({ max = MAX, perAddress = MAX, reserve = 4, proxy }: Options = {}) {
  const busy: ServerResponse[] = [];
  const refused: string[] = [];
  const room: ConnectionRoom = createConnectionRoom({ max, perAddress, reserve });
  const server = createApiServer(
    ({ url }, response) => {
      if (url === '/busy') busy.push(response);
      else response.end('done');
    },
    {
      requestTimeoutSeconds: 30,
      stalledMilliseconds: 30_000,
      maxUnsentBytes: 1e9,
      connections: {
        room,
        isTrustedProxy: (address) => address === proxy,
        onRefused: (shortage, address) => refused.push(`${address} ${shortage}`),
      },
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const clients: RawConnection[] = [];
  const send = async (text: string, from: string) => {
    const client = await openRaw(port, from);
    clients.push(client);
    client.socket.write(text);
    return client;
  };
  const ask = (path: string, from = ONE) => send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, from);
  end = async () => {
    for (const { socket } of clients) socket.destroy();
    server.close();
    server.closeAllConnections();
    await until(() => room.open() === 0);
  };
  return {
    room,
    refused,
    send,
    ask,
    statusOf: async (path: string, from?: string) =>
      /^HTTP\/1\.1 (\d+)/.exec(await (await ask(path, from)).until(/\r\n\r\n/))?.[1],
    /** Opens connections whose requests are not answered yet. */
    keepBusy: async (count: number, from?: string) => {
      const before = busy.length;
      const opened: RawConnection[] = [];
      while (opened.length < count) opened.push(await ask('/busy', from));
      await until(() => busy.length === before + count);
      return opened;
    },
    finish: () => {
      for (const response of busy.splice(0)) response.end('done');
    },
  };
}

test('connections without a request give way to new ones, and those with one do not', async () => {
  const { keepBusy, statusOf, room } = await start();
  const busy = await keepBusy(5);
  // Three times as many as there is room for, which all stay open.
  for (let n = 0; n < 3 * MAX; n += 1) expect(await statusOf('/')).toBe('200');
  expect(room.open()).toBeLessThanOrEqual(MAX);
  expect(busy.every(({ socket }) => !socket.closed)).toBe(true);
});

test('an address has no more than its share, whatever it does, and others have theirs', async () => {
  const { keepBusy, statusOf, refused } = await start({ perAddress: 5 });
  await keepBusy(5);
  expect(await statusOf('/')).toBe('503');
  expect(await statusOf('/', OTHER)).toBe('200');
  await keepBusy(5, OTHER);
  expect(refused).toEqual([`${ONE} address`]);
});

test('the connections of an address without a request give way to its own new ones only', async () => {
  const { ask, statusOf } = await start({ perAddress: 5 });
  const kept = await ask('/', OTHER);
  await kept.until(/done/);
  for (let n = 0; n < 20; n += 1) expect(await statusOf('/')).toBe('200');
  expect(kept.socket.closed).toBe(false);
});

test('a trusted proxy may have all connections, but not the reserve', async () => {
  const { keepBusy, statusOf, refused } = await start({ perAddress: 5, proxy: ONE });
  await keepBusy(MAX);
  expect(await statusOf('/')).toBe('503');
  expect(refused).toEqual([`${ONE} process`]);
});

test('where there is no room, operators are served on connections of the reserve, and others are told to come again', async () => {
  const { keepBusy, ask, statusOf, room, finish } = await start();
  await keepBusy(MAX);
  for (let n = 0; n < 20; n += 1) {
    const answer = await (await ask('/retrieve/chunks', OTHER)).closed();
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 2\r\n[^]*\{"detail":"Too many connections"\}$/);
    for (const path of ['/health', '/health/ready', '/metrics?x=1', '/admin/queues'])
      expect(await statusOf(path, OTHER)).toBe('200');
    expect(await statusOf('/administration', OTHER)).toBe('503');
  }
  expect(room.open()).toBeLessThanOrEqual(MAX + 8);
  finish();
  expect(await statusOf('/', OTHER)).toBe('200');
});

test('a connection of the reserve gives way to a newer one, with an answer', async () => {
  const { keepBusy, send, statusOf } = await start({ reserve: 2 });
  await keepBusy(MAX);
  const silent: RawConnection[] = [];
  while (silent.length < 4) silent.push(await send('GET / HT', OTHER));
  expect(await statusOf('/health', OTHER)).toBe('200');
  for (const each of silent.slice(0, 2)) expect(await each.closed()).toMatch(/^HTTP\/1\.1 503 /);
});

test('a connection with several requests is busy until the last one is answered', async () => {
  const { ask, statusOf, finish } = await start({ perAddress: 1 });
  const client = await ask('/');
  await client.until(/done/);
  client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /busy HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.until(/done[^]*done/);
  expect(await statusOf('/')).toBe('503');
  finish();
  await client.until(/done[^]*done[^]*done/);
  expect(await statusOf('/')).toBe('200');
});

test('two descriptors are kept for each connection, and some for the process itself', () => {
  expect(connectionsWithin(200, 0)).toEqual({ max: 52, perAddress: 13, reserve: 16 });
  expect(connectionsWithin(1_048_576, 0)).toMatchObject({ max: 10_000, perAddress: 2_500 });
  expect(connectionsWithin(Infinity, 40)).toMatchObject({ max: 10_000, perAddress: 40 });
  expect(connectionsWithin(64, 0).max).toBeGreaterThan(0);
});
