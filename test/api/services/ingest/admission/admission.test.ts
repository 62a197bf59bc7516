import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { createAdmission } from '../../../../../src/api/services/ingest/admission/admission.js';
import { createMemoryWatch } from '../../../../../src/shared/redis/memory.js';
import { keys } from '../../../../../src/shared/redis/keys.js';
import { useTestRedis } from '../../../../support/use-test-redis.js';

const { redis } = useTestRedis();
const admission = (maxWaiting = 100, maxWaitingPerCaller = 2) =>
  createAdmission(redis, { maxWaiting, maxWaitingPerCaller }, createMemoryWatch(redis, 1));

/** As the script that writes a record counts it. */
const count = async (documentId: string, callerId: string) => {
  await redis.hSet(keys.ingests, documentId, callerId);
  await redis.zIncrBy(keys.ingestsByCaller, 1, callerId);
};
afterEach(() => redis.del([keys.ingests, keys.ingestsByCaller]));

test('an ingest whose record was just written counts once', async () => {
  const { admit } = admission();
  const first = await admit('alice');
  first.becomes('one');
  await count('one', 'alice');
  const second = await admit('alice');
  await expect(admit('alice')).rejects.toThrow('Too many of your documents');
  second.becomes('two');
  await count('two', 'alice');
  await expect(admit('alice')).rejects.toThrow('Too many of your documents');
  first.leave();
  second.leave();
  await expect(admit('alice')).rejects.toThrow('Too many of your documents');
});

test('so do those of a batch, and those of other callers', async () => {
  const { admit, admitSome } = admission(3);
  const { admitted, arrival } = await admitSome('alice', 5);
  expect(admitted).toBe(2);
  for (const id of ['one', 'two']) {
    arrival.becomes(id);
    await count(id, 'alice');
  }
  const bobs = await admit('bob');
  await expect(admit('bob')).rejects.toThrow('Too many documents are waiting');
  bobs.leave();
  await admit('bob');
});

test('an ingest that has named its document and not written it counts as well', async () => {
  const { admit } = admission();
  for (const id of ['one', 'two']) (await admit('alice')).becomes(id);
  await expect(admit('alice')).rejects.toThrow('Too many of your documents');
});

/** The bytes that Redis receives while `action` runs. */
const receivedDuring = async (action: () => Promise<unknown>) => {
  const received = async () =>
    Number(/total_net_input_bytes:(\d+)/.exec(await redis.info('stats'))?.[1] ?? NaN);
  const before = await received();
  await action();
  return (await received()) - before;
};

const arriveNamed = async ({ admitSome }: ReturnType<typeof admission>, callerId: string, count: number) => {
  const { arrival } = await admitSome(callerId, count);
  for (let i = 0; i < count; i += 1) arrival.becomes(randomUUID());
};

test('a refusal does not cost more the more documents of others are being written', async () => {
  const busy = admission(100_000, 20_000);
  await redis.zAdd(keys.ingestsByCaller, { score: 20_000, value: 'alice' });
  await arriveNamed(busy, 'bob', 5_000);
  const refuse = async () => {
    for (let i = 0; i < 10; i += 1) await expect(busy.admit('alice')).rejects.toThrow('Too many of your');
  };
  expect(await receivedDuring(refuse)).toBeLessThan(10_000);
});

test('many who ask at once near the limit share what Redis is asked, and each counts once for each of them', async () => {
  const busy = admission(5_000, 20_000);
  await arriveNamed(busy, 'bob', 2_000);
  const { arrival } = await busy.admitSome('carol', 2_000);
  for (let i = 0; i < 2_000; i += 1) {
    arrival.becomes(`carols-${String(i)}`);
    await count(`carols-${String(i)}`, 'carol');
  }
  const callers = ['alice', 'bob', 'carol', 'dora', 'eve'];
  const ask = async () => {
    const all = await Promise.all(callers.map((caller) => busy.admitSome(caller, 300)));
    expect(all.map(({ admitted }) => admitted)).toEqual([300, 300, 300, 100, 0]);
  };
  // One name takes about 40 bytes.
  expect(await receivedDuring(ask)).toBeLessThan(2.5 * 4_000 * 50);
});

test('in a read that is shared, each caller is held against its own documents', async () => {
  const { admitSome } = admission(100, 10);
  const arrivals = await Promise.all(['alice', 'bob'].map((caller) => admitSome(caller, 4)));
  for (const [i, caller] of ['alice', 'bob'].entries()) {
    for (const id of [1, 2]) {
      arrivals[i]?.arrival.becomes(`${caller}-${String(id)}`);
      await count(`${caller}-${String(id)}`, caller);
    }
  }
  const more = await Promise.all(['alice', 'bob', 'alice', 'carol'].map((caller) => admitSome(caller, 8)));
  expect(more.map(({ admitted }) => admitted)).toEqual([6, 6, 0, 8]);
});
