import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDiskStorage } from '../../src/shared/adapters/disk-storage.js';
import { createCaches } from '../../src/shared/caches.js';
import { createChunks } from '../../src/shared/chunks.js';
import { createDraftObjects } from '../../src/shared/draft-objects.js';
import { generationId } from '../../src/shared/document.js';
import { createJobs, type Jobs } from '../../src/shared/jobs.js';
import { keys } from '../../src/shared/keys.js';
import { MissingObjectError } from '../../src/shared/ports.js';
import { createRecords, type Records } from '../../src/shared/records.js';
import { bullConnection, createRedis, type Redis } from '../../src/shared/redis.js';
import { publish, startAttempt } from '../../src/shared/transitions.js';
import { createSweep } from '../../src/workers/sweep.js';
import { makeContent, makeDocument } from '../support/documents.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let jobs: Jobs;
let directory: string;

beforeAll(async () => {
  server = await startTestRedis();
  directory = await mkdtemp(join(tmpdir(), 'quire-sweep-'));
  redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  jobs = createJobs(bullConnection(server.url, { failFast: false }), () => undefined);
});

afterAll(async () => {
  await jobs.close();
  redis.destroy();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function sweepWith(records: Records): Promise<void> {
  const chunks = createChunks(redis);
  const storage = await createDiskStorage({ directory });
  const sweep = createSweep({
    ...{ redis, jobs, records, chunks, storage },
    ...{ caches: createCaches(redis), drafts: createDraftObjects(redis), graceMs: 60_000 },
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

test('bytes that a crashed upload left are removed, those of a document stay', async () => {
  const storage = await createDiskStorage({ directory });
  const drafts = createDraftObjects(redis);
  const records = createRecords(redis);
  const kept = makeDocument({ pending: makeContent({ storageKey: 'aa/kept' }) });
  for (const key of ['aa/kept', 'aa/left', 'aa/fresh']) {
    await drafts.announce(key);
    await storage.put(key, bytesOf(key));
  }
  await records.create(kept);
  const threeDaysAgo = Date.now() - 3 * 86_400_000;
  await redis.zAdd(keys.draftObjects, { value: 'aa/left', score: threeDaysAgo }, { condition: 'XX' });
  await redis.zAdd(keys.draftObjects, { value: 'aa/kept', score: threeDaysAgo }, { condition: 'XX' });
  await sweepWith(records);
  expect((await storage.open('aa/kept')).size).toBe(7);
  expect((await storage.open('aa/fresh')).size).toBe(8);
  await expect(storage.open('aa/left')).rejects.toThrow(MissingObjectError);
  expect(await drafts.abandoned(Date.now())).toEqual(['aa/fresh']);
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}
