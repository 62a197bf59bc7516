import { expect, test } from '@jest/globals';
import { isPlainAddress } from '../../../src/cli/redis/ping.js';
import { bullConnection } from '../../../src/shared/redis/client.js';
import { parseSocketUrl, socketUrlOf } from '../../../src/shared/redis/socket-url.js';
import { isRedisUrl } from '../../../src/shared/settings/setting-kinds.js';

test('an address of a socket names any path, and reads as it was written', () => {
  for (const path of ['/run/redis.sock', '/home/a b/ü/100 %/r?d#s@:.sock'])
    expect(parseSocketUrl(socketUrlOf(path))).toEqual({ path });
  expect(parseSocketUrl('unix://me:s%40fe@/run/redis.sock?db=2')).toEqual({
    path: '/run/redis.sock',
    username: 'me',
    password: 's@fe',
    db: 2,
  });
});

test('an operator may name a socket, and nothing else that is no address', () => {
  for (const url of ['unix:///run/redis.sock', 'unix://:p@/run/redis.sock', 'redis://a', 'rediss://a:1/2'])
    expect([url, isRedisUrl(url)]).toEqual([url, true]);
  for (const url of [
    'unix://',
    'unix://run',
    'unix:/run/redis.sock',
    'unix:///a%zz',
    'http://a',
    '/run/redis.sock',
    '',
  ])
    expect([url, isRedisUrl(url)]).toEqual([url, false]);
});

test('BullMQ gets the path of a socket, and any other address as it is', () => {
  expect(bullConnection('unix:///run/redis.sock', { failFast: false })).toMatchObject({
    path: '/run/redis.sock',
  });
  expect(bullConnection('redis://a:1', { failFast: false })).toMatchObject({ url: 'redis://a:1' });
});

test('a socket without a login can be asked with PING alone', () => {
  expect(isPlainAddress('unix:///run/redis.sock')).toBe(true);
  for (const url of ['unix://:p@/run/redis.sock', 'unix:///run/redis.sock?db=1'])
    expect(isPlainAddress(url)).toBe(false);
});
