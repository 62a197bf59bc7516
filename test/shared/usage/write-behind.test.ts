import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRedis, type Redis } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createUsage, usageEvent, type Usage } from '../../../src/shared/usage/usage.js';
import { createWriteBehind, type WriteBehind } from '../../../src/shared/usage/write-behind.js';
import { aggregateUsage } from '../../support/aggregate-usage.js';
import { startRedisProxy } from '../../support/redis-proxy.js';
import { startTestRedis, type TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

let server: TestRedis;
let redis: Redis;
let usage: Usage;
const clients: Redis[] = [];
beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  usage = createUsage(redis);
});
beforeEach(() => redis.flushAll());
afterEach(async () => {
  await redis.configSet('maxmemory', '0');
  for (const client of clients.splice(0)) client.destroy();
});
afterAll(async () => {
  redis.destroy();
  await server.stop();
});

/** Opens the usage of one API process, and keeps the lines of its log. */
async function open(url = server.url) {
  const client = createRedis(url, { failFast: true, onError: () => undefined });
  await client.connect();
  clients.push(client);
  const logged: string[] = [];
  const reads = createWriteBehind(client, {
    logger: { warn: (_: unknown, text?: string) => logged.push(String(text)) },
  });
  return { client, reads, logged };
}

let tokens = 0;
function append(reads: WriteBehind, userId: string, times = 1): void {
  for (let n = 0; n < times; n += 1) {
    tokens += 1;
    const asked = {
      operation: 'retrieve_chunks',
      startedAtMs: Date.now(),
      metadata: { query: 'herons' },
    } as const;
    reads.append(usageEvent({ ...asked, userId, status: 'success', tokens }));
  }
}

const counted = async (userId: string) => (await usage.stats(userId))['retrieve_chunks'] ?? 0;
const tokensOf = async (userId: string) =>
  (await usage.recent(userId, { limit: 1_000 })).map((event) => event.tokens);

describe('reads', () => {
  test('are stored together within 100 ms, each once and in their order, without anybody asking', async () => {
    const { reads } = await open();
    await redis.configResetStat();
    const first = tokens + 1;
    append(reads, 'ann', 100);
    append(reads, 'bob');
    expect(reads.waiting()).toBe(101);
    expect(await counted('ann')).toBe(0);
    await sleep(100);
    expect([await counted('ann'), await counted('bob'), reads.waiting()]).toEqual([100, 1, 0]);
    expect(await tokensOf('ann')).toEqual(Array.from({ length: 100 }, (_, i) => first + 99 - i));
    await aggregateUsage(redis)({ keepDays: 90, keepRecords: 1_000 });
    expect(await counted('ann')).toBe(100);
    // Two scripts, of 64 events at most.
    const { calls } = /cmdstat_set:calls=(?<calls>\d+)/.exec(await redis.info('commandstats'))?.groups ?? {};
    expect(calls).toBe('2');
  });

  test('are there for whoever asks for usage after their answer, also at another process', async () => {
    const [here, there] = [await open(), await open()];
    for (let round = 1; round <= 10; round += 1) {
      append(here.reads, 'ann');
      // At any time of the period.
      await sleep(7 * round);
      append(here.reads, 'ann');
      await there.reads.untilStored();
      expect(await counted('ann')).toBe(2 * round);
    }
    await here.reads.untilStored();
  });

  test('count once though the reply of Redis was lost', async () => {
    const proxy = await startRedisProxy(server.port);
    const { client, reads } = await open(proxy.url);
    append(reads, 'ann', 3);
    // The server does as it is told, and the connection breaks before it can say so.
    proxy.cutAtNextReply();
    await expect(reads.untilStored()).rejects.toThrow();
    expect(await counted('ann')).toBe(3);
    append(reads, 'ann', 100);
    await until(() => client.isReady);
    await reads.untilStored();
    expect(await tokensOf('ann')).toEqual(Array.from({ length: 103 }, (_, i) => tokens - i));
    await proxy.close();
  });

  test('wait while Redis is away, which the log says once, and are stored when it is back', async () => {
    const { reads, logged } = await open();
    append(reads, 'ann');
    await reads.untilStored();
    await server.crash();
    append(reads, 'ann', 2);
    await sleep(200);
    append(reads, 'ann');
    await expect(reads.untilStored()).rejects.toThrow();
    expect(logged).toEqual(['usage of reads cannot be stored']);
    await server.start();
    await until(() => reads.waiting() === 0);
    expect(await counted('ann')).toBe(4);
  });

  test('are stored by a process that stops', async () => {
    const { client, reads, logged } = await open();
    append(reads, 'ann', 200);
    await reads.close();
    client.destroy();
    expect(await counted('ann')).toBe(200);
    expect(logged).toEqual([]);
  });

  test('that are lost when it stops without Redis are told by its log', async () => {
    const { client, reads, logged } = await open();
    client.destroy();
    append(reads, 'ann', 2);
    await reads.close();
    expect(logged).toEqual(['usage of reads cannot be stored', 'usage of reads is lost']);
  });
});

describe('where Redis takes none', () => {
  test('a bounded number waits, and what cannot be counted is refused: first to who has a quarter of it', async () => {
    const { client, reads } = await open();
    client.destroy();
    append(reads, 'ann', 2_048);
    expect(() => append(reads, 'ann')).toThrow(UnavailableError);
    append(reads, 'bob', 2_048);
    append(reads, 'cat', 2_048);
    append(reads, 'dan', 2_048);
    expect(() => append(reads, 'eve')).toThrow(UnavailableError);
    expect(reads.waiting()).toBe(8_192);
    await client.connect();
    await until(() => reads.waiting() === 0);
    append(reads, 'ann');
    await reads.untilStored();
    expect([await counted('ann'), await counted('dan'), await counted('eve')]).toEqual([2_049, 2_048, 0]);
  });

  test('since it is full and a user has thousands waiting, only that user waits, until a worker has moved them', async () => {
    const { reads } = await open();
    await redis.rPush(
      keys.usagePending('ann'),
      Array.from({ length: 10_000 }, () => 'one that waits'),
    );
    await redis.sAdd(keys.usageDirty, 'ann');
    await redis.configSet('maxmemory', '1');
    append(reads, 'bob');
    append(reads, 'ann', 2);
    append(reads, 'bob');
    await until(() => reads.waiting() === 2);
    expect([await counted('ann'), await counted('bob')]).toEqual([0, 2]);
    while ((await aggregateUsage(redis)({ keepDays: 90, keepRecords: 10 })) > 0);
    await until(() => reads.waiting() === 0);
    expect([await counted('ann'), await counted('bob')]).toEqual([2, 2]);
  });

  test('of one user, because what there is of them is broken, others are counted', async () => {
    const { reads } = await open();
    await redis.set(keys.usagePending('ann'), 'no list');
    append(reads, 'ann');
    append(reads, 'bob');
    await until(() => reads.waiting() === 1);
    expect(await counted('bob')).toBe(1);
    await redis.del(keys.usagePending('ann'));
    await until(() => reads.waiting() === 0);
    expect(await counted('ann')).toBe(1);
  });

  test('users whom it refuses keep no place from anybody else, and are told so themselves', async () => {
    const { reads } = await open();
    const users = Array.from({ length: 40 }, (_, n) => `user ${String(n)}`);
    for (const user of users) await redis.set(keys.usagePending(user), 'no list');
    for (const user of users) append(reads, user);
    await sleep(200);
    await redis.configResetStat();
    for (const user of users.slice(0, 30)) append(reads, user, 255);
    expect(() => append(reads, 'user 0')).toThrow(UnavailableError);
    append(reads, 'eve');
    await until(async () => (await counted('eve')) === 1);
    // They are tried again after a second, and not all the time.
    const stats = await redis.info('commandstats');
    const scripts = [...stats.matchAll(/cmdstat_eval\w*:calls=(\d+)/g)].map(([, calls]) => Number(calls));
    expect(scripts.reduce((sum, calls) => sum + calls, 0)).toBeLessThan(200);
  });

  test('a user who was refused for a while is told of in the order of the reads', async () => {
    const { reads } = await open();
    await redis.set(keys.usagePending('ann'), 'no list');
    append(reads, 'ann', 100);
    await sleep(100);
    append(reads, 'ann', 100);
    await redis.del(keys.usagePending('ann'));
    append(reads, 'ann', 50);
    await until(() => reads.waiting() === 0, 5);
    const told = await tokensOf('ann');
    expect(told).toEqual(Array.from({ length: 250 }, (_, n) => tokens - n));
  });
});
