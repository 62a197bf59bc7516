import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCaches } from '../../src/shared/caches.js';
import { createChunks } from '../../src/shared/chunks.js';
import { generationId } from '../../src/shared/document.js';
import { createJobs, type Jobs } from '../../src/shared/jobs.js';
import { keys } from '../../src/shared/keys.js';
import { createRecords, type Records } from '../../src/shared/records.js';
import { bullConnection, createRedis, type Redis } from '../../src/shared/redis.js';
import { publish, startAttempt } from '../../src/shared/transitions.js';
import { createSweep } from '../../src/workers/sweep.js';
import { makeDocument } from '../support/documents.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let jobs: Jobs;

beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  jobs = createJobs(bullConnection(server.url, { failFast: false }), () => undefined);
});

afterAll(async () => {
  await jobs.close();
  redis.destroy();
  await server.stop();
});

async function sweepWith(records: Records): Promise<void> {
  const chunks = createChunks(redis);
  const removeObjects = () => Promise.resolve({ removed: 0, kept: 0, failed: 0 });
  const sweep = createSweep({
    ...{ redis, jobs, records, chunks, removeObjects },
    ...{ caches: createCaches(redis), graceMs: 60_000 },
  });
  await sweep();
}

test('what is published while the sweeper looks around is not swept away', async () => {
  const records = createRecords(redis);
  const document = makeDocument();
  const fence = { documentId: document.id, version: 1, attempt: 1 };
  await records.create(document);
  await records.update(document.id, (each) => startAttempt(each, fence));

  // The sweeper has read which generations are hidden; before it reads their documents, this one is published.
  const publishing: Records = {
    ...records,
    readMany: async (ids) => {
      const counts = { chunkCount: 1, tokenCount: 1 };
      await records.update(document.id, (each) => publish(each, { ...fence, ...counts }));
      return records.readMany(ids);
    },
  };
  await sweepWith(publishing);

  expect(await records.read(document.id)).toMatchObject({ status: 'completed' });
  expect(await redis.sMembers(keys.garbage)).toEqual([]);
  expect(await redis.hGet(keys.generation(generationId(document)), 'discarded')).toBeNull();
});

test('a hidden generation of a document that is gone is cleaned away', async () => {
  const stray = generationId(makeDocument());
  await redis.sAdd(keys.hidden, stray);
  await sweepWith(createRecords(redis));
  expect(await redis.sMembers(keys.garbage)).toEqual([stray]);
});
