import { beforeEach, expect, test } from '@jest/globals';
import { checkDimensions } from '../../../src/shared/data-set/data-set.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { chunkCosts } from '../../../src/workers/ingestion/room/room.js';
import { rejection } from '../../support/rejection.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();

beforeEach(async () => {
  await redis.flushAll();
});

const costsOf = (dimensions: () => Promise<number>) =>
  chunkCosts({ redis, vectorType: 'float32', embedding: { dimensions } });
const away = () => Promise.reject(new UnavailableError('embedding provider'));

test('a model whose vectors nobody knows yet is asked, and nothing is guessed while it is away', async () => {
  expect(await costsOf(() => Promise.resolve(4_096))).toEqual({ vectorBytes: 16_384, isIndexed: false });
  expect(await rejection(costsOf(away))).toBeInstanceOf(UnavailableError);
});

test('the first vector of the data tells its length, also to a process that has started before', async () => {
  await checkDimensions(redis, 4_096);
  expect(await costsOf(away)).toMatchObject({ vectorBytes: 16_384 });
});
