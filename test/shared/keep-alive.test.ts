import { once } from 'node:events';
import { stat } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { createApiServer } from '../../src/api/http/connections/server.js';
import { createModelsServer } from '../../src/models/http/app.js';

/** Longer than Node keeps a connection by itself: 5 s, and in some versions one more. */
const BUSY_MILLISECONDS = 7_000;

/** A thread that posts to each address over the connection of its first request, a second after it is told to. */
const CLIENT = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', async (urls) => {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const post = (url) => fetch(url, { method: 'POST', body: 'x' }).then((answer) => answer.text(), (error) => String(error));
  parentPort.postMessage(await Promise.all(urls.map(post)));
});`;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Keeps this thread from everything else, as a step of work that an event has begun. */
const beBusy = () =>
  new Promise<void>((resolve) => {
    stat('.', () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MILLISECONDS);
      resolve();
    });
  });

test('a request over a kept connection is answered, however busy the process was when it came', async () => {
  const ports = new Set<number | undefined>();
  const answer: RequestListener = (request, response) => {
    ports.add(request.socket.remotePort);
    request.resume().once('end', () => response.end('answered'));
  };
  const sending = { requestTimeoutSeconds: 60, stalledMilliseconds: 60_000, maxUnsentBytes: 2 ** 20 };
  const servers: Server[] = [createApiServer(answer, sending), createModelsServer(answer)];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const urls = servers.map((server) => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
  const client = new Worker(CLIENT, { eval: true });
  closing.push(async () => {
    await client.terminate();
    for (const server of servers) server.close().closeAllConnections();
  });
  const post = async () => {
    client.postMessage(urls);
    return (await once(client, 'message'))[0] as unknown;
  };
  expect(await post()).toEqual(['answered', 'answered']);
  // The thread asks while this one is busy, so that its requests wait when the time of a connection would end.
  const asked = post();
  await beBusy();
  expect(await asked).toEqual(['answered', 'answered']);
  expect(ports.size).toBe(2);
});
