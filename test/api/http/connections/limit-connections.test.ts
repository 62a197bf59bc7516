import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import {
  connectionsOfThisProcess,
  limitConnections,
} from '../../../../src/api/http/connections/limit-connections.js';
import { until } from '../../../support/until.js';

const MAX = 20;

test('connections without a request give way to new ones, and those with one do not', async () => {
  const busy: ServerResponse[] = [];
  const server = createServer(({ url }, response) => {
    if (url === '/busy') busy.push(response);
    else response.end('done');
  });
  let crowded = 0;
  limitConnections(server, { max: MAX, onCrowded: () => (crowded += 1) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // @NOTE a server that listens on a port has an address of this kind
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  const open = async (path: string) => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    let text = '';
    client.on('error', () => undefined).on('data', (bytes: Buffer) => (text += bytes.toString()));
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    if (path !== '/busy') await until(() => Promise.resolve(text.includes('done') || client.closed));
    return { isServed: () => text.includes('done') };
  };
  try {
    for (let n = 1; n <= 5; n += 1) {
      await open('/busy');
      await until(() => Promise.resolve(busy.length === n));
    }
    // Three times as many as there is room for, which all stay open.
    for (let n = 0; n < 3 * MAX; n += 1) {
      expect((await open('/idle')).isServed()).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    expect(crowded).toBeGreaterThan(0);
    expect(clients.slice(0, 5).every(({ closed }) => !closed)).toBe(true);
    for (const response of busy) response.end('done');
  } finally {
    for (const client of clients) client.destroy();
    server.closeAllConnections();
    server.close();
  }
});

test('a process leaves descriptors for files', () => {
  expect(connectionsOfThisProcess()).toBeGreaterThan(100);
  expect(connectionsOfThisProcess()).toBeLessThanOrEqual(10_000);
});
