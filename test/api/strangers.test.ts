import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { createApiServer } from '../../src/api/http/connections/server.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

const STRANGERS = 40;
const BODY = Buffer.alloc(8 * 1024 ** 2, 'a');
const KIB = 1024;

test('what strangers send on after their refusal is dropped in turns, and their answers arrive', async () => {
  const server = createApiServer(
    (_request, response) => {
      response.writeHead(401).end('refused');
    },
    { requestTimeoutSeconds: 30, stalledMilliseconds: 30_000, maxUnsentBytes: 1e9 },
  );
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  let [before, peak, isOver] = [0, 0, false];
  const lookAtTurn = () => {
    const all = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    peak = Math.max(peak, all - before);
    before = all;
    if (!isOver) setImmediate(lookAtTurn);
  };
  lookAtTurn();
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${String(BODY.length)}\r\n\r\n`;
  const connections = await Promise.all(Array.from({ length: STRANGERS }, () => openRaw(port)));
  for (const { socket } of connections) {
    socket.write(head);
    socket.write(BODY);
  }
  await until(() => connections.every(({ received }) => received().includes('refused')));
  await until(() => before > 100 * KIB * KIB || sockets.every(({ destroyed }) => destroyed));
  isOver = true;
  for (const { socket } of connections) socket.destroy();
  server.closeAllConnections();
  server.close();
  // Each socket reads 64 KiB and stops until it is its turn; by itself it would read on for two megabytes.
  expect(before).toBeGreaterThan(40 * KIB * KIB);
  expect(peak).toBeLessThan(STRANGERS * 200 * KIB);
});
