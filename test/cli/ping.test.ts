import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isPlainAddress, ping } from '../../src/cli/redis/ping.js';
import { freePort, startTestRedis } from '../support/redis.js';

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

/** The address of a server that does this with each connection. */
async function serve(onConnection: (socket: Socket) => void): Promise<string> {
  server = createServer(onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `redis://127.0.0.1:${String(address.port)}`;
}

describe('ping', () => {
  test('returns when a Redis answers', async () => {
    const redis = await startTestRedis();
    try {
      await ping(redis.url);
    } finally {
      await redis.stop();
    }
  });

  test('rejects when nobody listens, when one closes or is silent, and when a Redis is not ready', async () => {
    await expect(ping(`redis://127.0.0.1:${String(await freePort())}`)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    await expect(ping(await serve((socket) => socket.end()))).rejects.toThrow('closed the connection');
    server?.close();
    await expect(ping(await serve((socket) => socket.unref()))).rejects.toThrow('does not answer');
    server?.close();
    const loading = await serve((socket) => socket.write('-LOADING Redis is loading\r\n'));
    await expect(ping(loading)).rejects.toThrow('-LOADING Redis is loading');
  });
});

test('addresses with a login, TLS or a database are no plain ones', () => {
  expect(['redis://h', 'redis://h:1', 'redis://[::1]:6379'].map(isPlainAddress)).toEqual([true, true, true]);
  const others = ['rediss://h', 'redis://:p@h', 'redis://u@h', 'redis://h/2', 'redis://h?a=b'];
  expect(others.map(isPlainAddress)).toEqual(Array(others.length).fill(false));
});
