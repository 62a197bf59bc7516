import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createAccessGroups } from '../../../../src/shared/access/access-groups.js';
import { NO_QUOTAS } from '../../../../src/shared/documents/counts.js';
import { FIRST_VECTORS } from '../../../../src/shared/data-set/stored-vectors.js';
import { commitNew } from '../../../../src/shared/documents/commit/commit-new.js';
import { makeDocument } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });

/** Counts how many calls of a function are under way at once. Each takes a while longer than it would. */
function watch<Values extends unknown[], Result>(call: (...values: Values) => Promise<Result>) {
  const seen = { now: 0, most: 0, calls: 0 };
  const watched = async (...values: Values): Promise<Result> => {
    seen.calls += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    try {
      const result = await call(...values);
      await sleep(5);
      return result;
    } finally {
      seen.now -= 1;
    }
  };
  return { seen, watched };
}

const quotas = NO_QUOTAS;

describe('many new records', () => {
  test('are sent to Redis a few steps at a time, so that others need not wait behind all of them', async () => {
    const { seen, watched } = watch(redis.eval.bind(redis));
    const watchedRedis = Object.assign(redis.duplicate(), { eval: watched });
    const parts = { redis: watchedRedis, vectors: FIRST_VECTORS, groups: createAccessGroups(redis), quotas };
    const created = Array.from({ length: 640 }, () => ({ record: makeDocument() }));
    expect(await commitNew(parts, created)).toEqual(created.map(() => null));
    expect(seen.calls).toBeGreaterThanOrEqual(20);
    expect(seen.most).toBe(4);
  });

  test('have their long access lists registered one after the other', async () => {
    const { seen, watched } = watch(createAccessGroups(redis).register);
    const created = Array.from({ length: 40 }, (_, i) => ({
      record: makeDocument({
        readers: Array.from({ length: 20 }, (_, j) => `reader ${String(i)} ${String(j)}`),
      }),
    }));
    const parts = { redis, vectors: FIRST_VECTORS, groups: { register: watched }, quotas };
    expect(await commitNew(parts, created)).toEqual(created.map(() => null));
    expect(seen.calls).toBe(40);
    expect(seen.most).toBe(1);
  });
});
