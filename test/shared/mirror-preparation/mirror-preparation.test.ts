import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import {
  createMirrorPreparation,
  tellOfMirror,
} from '../../../src/shared/mirror-preparation/mirror-preparation.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const mirrors = createMirrorPreparation(redis);
let generation = '';

beforeEach(async () => {
  await redis.flushAll();
  generation = `${randomUUID()}.1.1.abc`;
});

test('nothing is waited for where there is no mirror', async () => {
  expect(await mirrors.open(generation)).toBe(false);
  expect(await mirrors.areLoading(generation)).toBe(false);
  expect(await redis.keys('*')).toEqual([]);
});

test('a generation is waited for until every mirror that lives has loaded it', async () => {
  await tellOfMirror(redis, 'one', []);
  await tellOfMirror(redis, 'two', []);
  expect(await mirrors.open(generation)).toBe(true);
  expect(await mirrors.areLoading(generation)).toBe(true);
  await tellOfMirror(redis, 'one', ['another', generation]);
  expect(await mirrors.areLoading(generation)).toBe(true);
  await tellOfMirror(redis, 'two', [generation]);
  expect(await mirrors.areLoading(generation)).toBe(false);
  await tellOfMirror(redis, 'three', []);
  expect(await mirrors.areLoading(generation)).toBe(true);
});

test('a mirror that is not heard of any more is not waited for, and forgotten', async () => {
  await tellOfMirror(redis, 'dead', []);
  await tellOfMirror(redis, 'alive', []);
  await mirrors.open(generation);
  await redis.zIncrBy(keys.mirrors, -6_000, 'dead');
  expect(await mirrors.areLoading(generation)).toBe(true);
  await tellOfMirror(redis, 'alive', [generation]);
  expect(await mirrors.areLoading(generation)).toBe(false);
  expect(await redis.zRange(keys.mirrors, 0, -1)).toEqual(['alive']);
});

test('no mirror is waited for any longer than allowed, and nothing is left behind then', async () => {
  const impatient = createMirrorPreparation(redis, 50);
  await tellOfMirror(redis, 'slow', []);
  await impatient.open(generation);
  await until(async () => !(await impatient.areLoading(generation)));
  await tellOfMirror(redis, 'slow', [generation]);
  expect(await redis.keys('*')).toEqual([keys.mirrors]);
});

test('a mirror tells of itself even when Redis is full', async () => {
  await tellOfMirror(redis, 'one', []);
  await mirrors.open(generation);
  await redis.configSet('maxmemory', '1');
  try {
    await tellOfMirror(redis, 'one', [generation]);
  } finally {
    await redis.configSet('maxmemory', '0');
  }
  expect(await mirrors.areLoading(generation)).toBe(false);
});
