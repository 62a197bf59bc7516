import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { ApiReply } from '../../src/api/http/response/reply.js';
import type { Route } from '../../src/api/http/route.js';
import { startApi, type ApiClient } from '../support/api.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { get } from '../support/streaming-routes.js';
import { until } from '../support/until.js';

const PART = 'x'.repeat(60_000);
/** More than the buffers of a connection hold. */
const BODY_PARTS = 600;

let api: ApiClient;
let left: unknown[];
/** Connections that were ended for what their clients did not take. */
let cutOff: number;
afterEach(() => api.close());

/** Endless, and notes that it was left. */
async function* endless<Item>(item: Item): AsyncGenerator<Item> {
  try {
    for (;;) yield await Promise.resolve(item);
  } finally {
    left.push(item);
  }
}

const replies: Record<string, () => ApiReply> = {
  list: () => ({ type: 'items', items: endless(PART) }),
  json: () => ({ type: 'json', status: 200, body: Array.from({ length: BODY_PARTS }, () => PART) }),
  events: () => ({ type: 'events', events: endless({ n: PART }) }),
  download: () => ({
    type: 'download',
    bytes: endless(Buffer.from(PART)),
    sizeBytes: 1e9,
    contentType: 'text/plain',
    filename: 'a',
  }),
};

function route(kind: string): Route {
  const make = replies[kind];
  if (!make) throw new Error(`no such kind: ${kind}`);
  const plain = get(`/${kind}`, make);
  return kind === 'events'
    ? { ...plain, responses: { 200: 'events' }, events: z.object({ n: z.string() }) }
    : { ...plain, responses: { 200: kind === 'download' ? 'download' : z.array(z.unknown()) } };
}

async function start(limits: { stalledMilliseconds?: number; maxUnsentBytes?: number }): Promise<void> {
  left = [];
  cutOff = 0;
  const onCutOff = () => {
    cutOff += 1;
  };
  api = await startApi({ routes: Object.keys(replies).map(route), onCutOff, ...limits });
}

/** Asks, and takes nothing of the answer but its beginning. */
async function askAndPause(kind: string): Promise<RawConnection> {
  const connection = await openRaw(api.port);
  connection.socket.write(`GET /${kind} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await connection.until(/200 OK/);
  connection.socket.pause();
  return connection;
}

test.each(Object.keys(replies))('a client that takes nothing of a %s is cut off', async (kind) => {
  await start({ stalledMilliseconds: 1_000 });
  const connection = await askAndPause(kind);
  await until(() => cutOff === 1);
  if (kind !== 'json') await until(() => left.length === 1);
  connection.socket.resume();
  const text = await connection.closed();
  expect(text.length).toBeLessThan(BODY_PARTS * PART.length);
});

test('a client that sends a byte now and then, and takes none, is cut off, too', async () => {
  await start({ stalledMilliseconds: 1_000 });
  const { socket } = await askAndPause('list');
  socket.write('GET /list HTTP/1.1\r\nX-Slow: ');
  const sending = setInterval(() => socket.write('a'), 100);
  await until(() => left.length === 1);
  clearInterval(sending);
  socket.destroy();
});

test('a client that takes little by little, in time, is not', async () => {
  await start({ stalledMilliseconds: 2_000 });
  const connection = await askAndPause('list');
  // A fast machine sends more of it than a string can hold.
  connection.socket.removeAllListeners('data').on('data', () => undefined);
  connection.socket.pause();
  // For three times as long as a client may take nothing.
  for (let turns = 0; turns < 30; turns += 1) {
    connection.socket.resume();
    await sleep(20);
    connection.socket.pause();
    await sleep(180);
  }
  expect([left, cutOff]).toEqual([[], 0]);
  connection.socket.destroy();
});

test('of many clients that take nothing, those that have waited longest make way for the others', async () => {
  await start({ stalledMilliseconds: 60_000, maxUnsentBytes: 2 ** 20 });
  const many = await Promise.all(Array.from({ length: 30 }, () => askAndPause('list')));
  // Each holds a piece of 54 or 64 KiB, some a little more: between 13 and 19 of them are a mebibyte.
  await until(() => left.length >= 11);
  await sleep(2_500);
  expect(left.length).toBeLessThanOrEqual(17);
  for (const { socket } of many) socket.destroy();
});
