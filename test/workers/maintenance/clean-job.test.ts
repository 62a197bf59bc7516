import { expect, test } from '@jest/globals';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { generationId } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { createCleanJob } from '../../../src/workers/maintenance/clean-job.js';
import { makeDocument } from '../../support/documents.js';
import { playIngest } from '../../support/play-worker.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });

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
