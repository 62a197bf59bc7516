import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createChunks } from '../../src/shared/chunks.js';
import { generationId } from '../../src/shared/document.js';
import { keys } from '../../src/shared/keys.js';
import { createRecords } from '../../src/shared/records.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { createTermStatistics } from '../../src/shared/term-statistics.js';
import { createCleanJob } from '../../src/workers/clean.js';
import { makeDocument } from '../support/documents.js';
import { playIngest } from '../support/play-worker.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
});
afterAll(async () => {
  redis.destroy();
  await server.stop();
});

async function published(chunkCount: number) {
  const data = { records: createRecords(redis), chunks: createChunks(redis) };
  const document = makeDocument();
  await data.records.create(document);
  await playIngest(
    data,
    document.id,
    Array.from({ length: chunkCount }, (_, n) => `chunk ${String(n)}`),
  );
  return { ...data, generation: generationId(document) };
}

test('a generation that serves, since Redis came back with older data, is not cleaned away', async () => {
  const { chunks, generation } = await published(3);
  // The job was added by a publish that Redis has forgotten.
  const clean = createCleanJob({ chunks, statistics: createTermStatistics(redis) });
  expect(await clean(generation)).toBe('stale');
  expect(await chunks.readTexts(generation, 0, 3)).toHaveLength(3);
  expect(await chunks.generation(generation)).toMatchObject({ chunks: 3 });
});

test('a clean that has begun ends where its generation serves again', async () => {
  const { chunks, generation } = await published(200);
  await redis.sAdd(keys.garbage, generation);
  const older = {
    ...chunks,
    unlink: async (...batch: Parameters<typeof chunks.unlink>) => {
      const removed = await chunks.unlink(...batch);
      await redis.sRem(keys.garbage, generation);
      return removed;
    },
  };
  const clean = createCleanJob({ chunks: older, statistics: createTermStatistics(redis) });
  expect(await clean(generation)).toBe('stale');
  expect(await chunks.readTexts(generation, 64, 136)).toHaveLength(136);
  expect(await chunks.unlink(generation, [64])).toBeNull();

  await redis.sAdd(keys.garbage, generation);
  expect(await createCleanJob({ chunks, statistics: createTermStatistics(redis) })(generation)).toBe('done');
  expect(await chunks.readTexts(generation, 0, 200)).toEqual([]);
  expect(await redis.sMembers(keys.garbage)).toEqual([]);
});
