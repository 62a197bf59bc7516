import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { reconnectSilentRedis } from '../../../src/shared/redis/open.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createJobs } from '../../../src/shared/queues/jobs.js';
import { bullConnection, createRedis, toUnavailable, type Redis } from '../../../src/shared/redis/client.js';
import { declareScript } from '../../../src/shared/redis/script.js';
import { makeDocument } from '../../support/documents.js';
import { startTestRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

let server: TestRedis;
let redis: Redis;
const ignore = () => undefined;
beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: true, onError: ignore });
  await redis.connect();
});
afterAll(async () => {
  redis.destroy();
  await server.stop();
});

/** Says what a failed call means for the request that needed it. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (toUnavailable(error) instanceof UnavailableError ? 'unavailable' : 'a bug'),
  );

const set = declareScript({ keys: { key: 'key' }, args: { value: 'text' } }).lua<number>(
  `redis.call('SET', key, value) return 1`,
);

test('a Redis that hangs is unavailable within seconds, and used again when it goes on', async () => {
  const stopWatching = reconnectSilentRedis(redis, ignore);
  process.kill(server.pid, 'SIGSTOP');
  try {
    expect(await outcome(redis.get('key'))).toBe('unavailable');
    expect(await outcome(redis.get('key'))).toBe('unavailable');
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
  await until(async () => (await outcome(redis.get('key'))) === 'done');
  stopWatching();
});

describe('unavailable is', () => {
  test('a Redis that is full, for commands, scripts and jobs alike', async () => {
    const jobs = createJobs({
      connection: bullConnection(server.url, { failFast: true }),
      redis,
      onError: ignore,
    });
    await jobs.queue('ingestion-quick').waitUntilReady();
    const addJob = () => jobs.addIngest(makeDocument({ id: 'a' }), { requestId: 'request' });
    await redis.configSet({ maxmemory: '1' });
    expect(await outcome(redis.set('key', 'value'))).toBe('unavailable');
    expect(await outcome(redis.multi().set('key', 'value').exec())).toBe('unavailable');
    expect(await outcome(set.run(redis, { keys: { key: 'key' }, args: { value: 'value' } }))).toBe(
      'unavailable',
    );
    expect(await outcome(addJob())).toBe('unavailable');
    await redis.configSet({ maxmemory: '0' });
    expect(await outcome(addJob())).toBe('done');
    await jobs.close();
  });

  test('a Redis that is down, for commands, scripts and jobs alike', async () => {
    const jobs = createJobs({
      connection: bullConnection(server.url, { failFast: true }),
      redis,
      onError: ignore,
    });
    await jobs.queue('ingestion-quick').waitUntilReady();
    await server.crash();
    for (let times = 0; times < 2; times += 1) {
      expect(await outcome(redis.get('key'))).toBe('unavailable');
      expect(await outcome(redis.multi().get('key').exec())).toBe('unavailable');
      expect(await outcome(set.run(redis, { keys: { key: 'key' }, args: { value: 'value' } }))).toBe(
        'unavailable',
      );
      const added = jobs.addIngest(makeDocument({ id: 'b' }), { requestId: 'request' });
      expect(await outcome(added)).toBe('unavailable');
    }
    await server.start();
    await until(async () => (await outcome(redis.get('key'))) === 'done');
    const addedAgain = () => jobs.addIngest(makeDocument({ id: 'b', attempt: 2 }), { requestId: 'request' });
    await until(async () => (await outcome(addedAgain())) === 'done');
    await jobs.close();
  });

  test('not a command of ours that is wrong, nor any other error', async () => {
    await redis.set('text', 'value');
    expect(await outcome(redis.hGetAll('text'))).toBe('a bug');
    expect(await outcome(redis.sendCommand(['NOSUCH']))).toBe('a bug');
    expect(await outcome(redis.multi().incr('text').exec())).toBe('a bug');
    expect(await outcome(Promise.reject(new Error('the connection of ideas')))).toBe('a bug');
    expect(toUnavailable('text')).toBe('text');
  });
});
