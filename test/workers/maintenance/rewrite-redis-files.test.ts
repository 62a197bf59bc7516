import { expect, test } from '@jest/globals';
import pino from 'pino';
import { createRecords } from '../../../src/shared/documents/records.js';
import { createRedis } from '../../../src/shared/redis/client.js';
import { rewriteRedisFiles, startMakingRoom } from '../../../src/workers/maintenance/make-room.js';
import { startTestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

const MEGABYTE = 2 ** 20;

test('what was removed leaves the files of Redis while their disk is short, if there is room to write them anew', async () => {
  const server = await startTestRedis();
  const redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  try {
    const sizeOf = async () => Number(/aof_current_size:(\d+)/.exec(await redis.info('persistence'))?.[1]);
    await redis.set('removed', 'x'.repeat(5 * MEGABYTE));
    await redis.del('removed');
    const look = (free: number) => {
      const state = { free, least: 37 * MEGABYTE, rewrite: 5 * MEGABYTE };
      const disks = { redis: { state: () => Promise.resolve(state) } };
      return rewriteRedisFiles({ redis, disks, logger: pino({ level: 'silent' }) });
    };
    await look(10 * MEGABYTE);
    expect(await redis.info('persistence')).toContain('aof_rewrite_in_progress:0');
    expect(await sizeOf()).toBeGreaterThan(5 * MEGABYTE);
    await look(30 * MEGABYTE);
    await until(async () => (await sizeOf()) < MEGABYTE);
    // Once is enough for a while, and nothing is asked of a Redis that would save nothing.
    await look(30 * MEGABYTE);
    await redis.set('removed', 'x'.repeat(2 * MEGABYTE));
    await redis.del('removed');
    await look(30 * MEGABYTE);
    expect(await redis.info('persistence')).toContain('aof_rewrite_in_progress:0');
    expect(await sizeOf()).toBeGreaterThan(2 * MEGABYTE);
    // Not where a quarter of the spare bytes was written meanwhile.
    await redis.set('removed', 'x'.repeat(7 * MEGABYTE));
    await redis.del('removed');
    await look(30 * MEGABYTE);
    await until(async () => (await sizeOf()) < MEGABYTE);
  } finally {
    redis.destroy();
    await server.stop();
  }
});

test('they are written anew also while Redis is short of memory', async () => {
  const server = await startTestRedis();
  const redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const sizeOf = async () => Number(/aof_current_size:(\d+)/.exec(await redis.info('persistence'))?.[1]);
  await redis.set('removed', 'x'.repeat(5 * MEGABYTE));
  await redis.del('removed');
  const state = { free: 30 * MEGABYTE, least: 37 * MEGABYTE, rewrite: 5 * MEGABYTE };
  const making = startMakingRoom({
    redis,
    records: createRecords(redis),
    jobs: { addIngest: () => Promise.resolve(), addCleans: () => Promise.resolve() },
    metrics: { add: () => undefined, observe: () => undefined },
    memory: {
      state: () => Promise.resolve({ used: 2, share: 1, max: 3 }),
      shortage: () => Promise.resolve('memory'),
      isShort: () => Promise.resolve(true),
      isFull: () => Promise.resolve(false),
    },
    disks: {
      redis: {
        disk: 'redis',
        state: () => Promise.resolve(state),
        isShort: () => Promise.resolve(true),
        requireRoom: () => Promise.resolve(),
      },
    },
    logger: pino({ level: 'silent' }),
  });
  try {
    await until(async () => (await sizeOf()) < MEGABYTE);
  } finally {
    making.close();
    redis.destroy();
    await server.stop();
  }
});
