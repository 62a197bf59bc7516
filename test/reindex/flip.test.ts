import { beforeEach, describe, expect, test } from '@jest/globals';
import { flip } from '../../src/reindex/run.js';
import { planReindex } from '../../src/reindex/plan.js';
import { IncompatibleDataError } from '../../src/shared/errors.js';
import { openDataSet, readDataSet } from '../../src/shared/data-set/data-set.js';
import { keys } from '../../src/shared/redis/keys.js';
import { ANALYSIS_VERSION } from '../../src/shared/text/analysis/version.js';
import { rejection } from '../support/rejection.js';
import { useTestRedis } from '../support/use-test-redis.js';

const { redis } = useTestRedis();

beforeEach(async () => {
  await redis.flushAll();
  await openDataSet(redis, { model: 'old', vectorType: 'float32' });
  await redis.set(keys.sequence, '7');
});

const toNew = (changes: Partial<Parameters<typeof flip>[1]> = {}) =>
  flip(redis, {
    model: 'new',
    vectors: { field: 'vector2', type: 'float32' },
    dimensions: 64,
    index: null,
    before: { field: 'vector', type: 'float32' },
    sequence: 7,
    ...changes,
  });

describe('letting new vectors serve', () => {
  test('names them in the data set, and leaves the old ones to be removed', async () => {
    expect(await toNew()).toBe(true);
    expect(await readDataSet(redis)).toMatchObject({
      model: 'new',
      vectors: { field: 'vector2' },
      dimensions: 64,
    });
    expect(await redis.sMembers(keys.garbageVectors)).toEqual(['vector']);
  });

  test('waits for what changed since the last look', async () => {
    expect(await toNew({ sequence: 6 })).toBe(false);
    expect(await readDataSet(redis)).toMatchObject({ model: 'old', vectors: { field: 'vector' } });
  });

  test('is refused when another run has let others serve meanwhile', async () => {
    await toNew();
    const late = toNew({ model: 'late', vectors: { field: 'vector3', type: 'float32' } });
    expect(await rejection(late)).toBeInstanceOf(IncompatibleDataError);
    expect(await readDataSet(redis)).toMatchObject({ model: 'new', vectors: { field: 'vector2' } });
  });
});

describe('data whose words were made by an older analysis', () => {
  test('is refused, whatever the model, until it is reindexed', async () => {
    await redis.hDel(keys.schema, 'analysis');
    await redis.zAdd(keys.changes, { score: 7, value: 'document' });
    const wanted = { model: 'old', vectorType: 'float32' } as const;
    const data = await readDataSet(redis);
    expect(data?.analysis).toBe('1');
    const error = await rejection(openDataSet(redis, wanted));
    expect(error).toBeInstanceOf(IncompatibleDataError);
    expect(String(error)).toContain('npx quire reindex');
    expect(data && planReindex(data, wanted, null)).toMatchObject({
      source: 'converted',
      vectors: { field: 'vector2' },
    });
    expect(await toNew({ model: 'old' })).toBe(true);
    expect((await openDataSet(redis, wanted)).analysis).toBe(ANALYSIS_VERSION);
  });
});
