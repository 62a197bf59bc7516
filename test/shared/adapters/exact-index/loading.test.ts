import { expect, test } from '@jest/globals';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { openIndexData, unit } from '../../../contracts/index-data.js';
import { startTestRedis } from '../../../support/redis.js';
import { until } from '../../../support/until.js';

test('a document whose terms cannot be read is left out and reported, all others are found', async () => {
  const redis = await startTestRedis();
  const data = await openIndexData(redis.url);
  const ingest = async () => {
    const id = await data.create();
    return { id, generation: await data.publish(id, [[1, 0, 0]]) };
  };
  const whole = await ingest();
  const { id, generation } = await ingest();
  await data.redis.hSet(keys.chunk(generation, 0), 'terms', 'no terms');
  const problems: unknown[] = [];
  const index = await createExactIndex({
    redisUrl: redis.url,
    onProblem: (message, fields) => problems.push({ message, fields }),
  });
  try {
    await until(async () => (await index.state()) === 'ready');
    const asked = { vector: unit([1, 0, 0]), principal: { id: 'owner' }, filter: null, limit: 10 };
    expect((await index.vectors.search(asked)).map(({ documentId }) => documentId)).toEqual([whole.id]);
    expect(problems).toEqual([
      { message: expect.stringContaining('terms'), fields: expect.objectContaining({ documentId: id }) },
    ]);
  } finally {
    await index.close();
    data.redis.destroy();
    await redis.stop();
  }
});
