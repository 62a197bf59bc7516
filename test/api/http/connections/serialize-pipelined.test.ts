import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { serializePipelined } from '../../../../src/api/http/connections/server.js';
import { until } from '../../../support/until.js';

const get = (path: string) => `GET /${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

async function withServer(
  handle: RequestListener,
  use: (client: ReturnType<typeof connect>, received: () => string) => Promise<void>,
): Promise<void> {
  const server = createServer(serializePipelined(handle)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // @NOTE a server that listens on a port has an address of this kind
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  client.on('error', () => undefined).on('data', (bytes: Buffer) => (text += bytes.toString()));
  try {
    await use(client, () => text);
  } finally {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
}

test('requests that a client sends at once are handled one after the other, in their order', async () => {
  const begun: string[] = [];
  const open: ServerResponse[] = [];
  const handle: RequestListener = ({ url = '' }, response) => {
    begun.push(url);
    open.push(response);
  };
  await withServer(handle, async (client, received) => {
    client.write(get('a') + get('b') + get('c'));
    for (const answered of [1, 2, 3]) {
      await until(() => Promise.resolve(begun.length === answered));
      open[answered - 1]?.end(`answer ${String(answered)}`);
    }
    await until(() => Promise.resolve(received().includes('answer 3')));
    client.write(get('d'));
    await until(() => Promise.resolve(begun.length === 4));
    expect(begun).toEqual(['/a', '/b', '/c', '/d']);
  });
});

test('those that wait are not handled when the connection ends', async () => {
  const begun: string[] = [];
  const handle: RequestListener = ({ url = '' }) => begun.push(url);
  await withServer(handle, async (client) => {
    client.write(get('a') + get('b'));
    await until(() => Promise.resolve(begun.length === 1));
    client.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(begun).toEqual(['/a']);
  });
});

test('a connection with more than 32 requests that wait ends', async () => {
  let begun = 0;
  const handle: RequestListener = () => (begun += 1);
  await withServer(handle, async (client) => {
    client.write(get('a').repeat(33));
    await until(() => Promise.resolve(begun === 1));
    expect(client.closed).toBe(false);
    const closed = once(client, 'close');
    client.write(get('a'));
    await closed;
    expect(begun).toBe(1);
  });
});
