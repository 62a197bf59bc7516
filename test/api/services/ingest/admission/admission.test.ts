import { afterEach, expect, test } from '@jest/globals';
import { createAdmission } from '../../../../../src/api/services/ingest/admission/admission.js';
import { createMemoryWatch } from '../../../../../src/shared/redis/memory.js';
import { keys } from '../../../../../src/shared/redis/keys.js';
import { useTestRedis } from '../../../../support/use-test-redis.js';

const { redis } = useTestRedis();
const admission = (maxWaiting = 100) =>
  createAdmission(redis, { maxWaiting, maxWaitingPerCaller: 2 }, createMemoryWatch(redis, 1));

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
