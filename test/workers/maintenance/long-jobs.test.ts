import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pino from 'pino';
import { createChunks, type Chunks } from '../../../src/shared/chunks/chunks.js';
import { documentTags } from '../../../src/shared/documents/record-fields.js';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import { patch, remove } from '../../../src/shared/documents/transitions.js';
import { createJobs, type Jobs } from '../../../src/shared/queues/jobs.js';
import { jobIds } from '../../../src/shared/queues/job-kinds.js';
import { bullConnection } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { createCleanJob } from '../../../src/workers/maintenance/clean-job.js';
import { createLongJobs } from '../../../src/workers/queues/maintenance.js';
import { createRetagJob } from '../../../src/workers/maintenance/retag-job.js';
import { createLaneWorker, createNoteWait } from '../../../src/workers/lane-worker.js';
import { createPoisonJobs } from '../../../src/workers/poison-jobs.js';
import { makeDocument } from '../../support/documents.js';
import { playIngest } from '../../support/play-worker.js';
import { statisticsDifferences } from '../../support/recount-statistics.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const connection = bullConnection(url, { failFast: false });
const LONG = 64 * 40;
let records: Records;
let chunks: Chunks;
let jobs: Jobs;
let stop: (() => Promise<void>) | null = null;

beforeAll(() => {
  records = createRecords(redis);
  chunks = createChunks(redis);
  jobs = createJobs({ connection, redis, onError: () => undefined });
});
afterEach(async () => {
  await stop?.();
  stop = null;
});
afterAll(async () => {
  await jobs.close();
});

/** One place, in which each batch takes 20 ms: a long document takes most of a second. */
function startWorker(): void {
  const slow = async <Result>(work: () => Promise<Result>) => {
    await sleep(20);
    return work();
  };
  const slowChunks: Chunks = {
    ...chunks,
    writeTags: (...given) => slow(() => chunks.writeTags(...given)),
    noteCleaned: (...given) => slow(() => chunks.noteCleaned(...given)),
  };
  const parts = { records, chunks: slowChunks, statistics: createTermStatistics(redis) };
  const [clean, retag] = [createCleanJob(parts), createRetagJob(parts)];
  const worker = createLaneWorker({
    queue: 'maintenance',
    connection,
    poisonJobs: createPoisonJobs({ redis, logger: pino({ level: 'silent' }) }),
    noteWait: createNoteWait(redis),
    concurrency: 1,
    lockMilliseconds: 5_000,
    handlers: createLongJobs({ jobs, clean, retag, turnMilliseconds: 50 }),
    logger: pino({ level: 'silent' }),
  });
  stop = () => worker.close(1_000);
}

async function published(ownerId: string, count: number) {
  const document = makeDocument({ ownerId, readers: [ownerId], writers: [ownerId], admins: [ownerId] });
  await records.create(document);
  const texts = Array.from({ length: count }, (_, n) => `chunk ${String(n)}`);
  await playIngest({ records, chunks }, document.id, texts);
  const generation = (await records.read(document.id))?.published?.generation ?? '';
  return { id: document.id, callerId: ownerId, generation };
}

async function change({ id, callerId }: { id: string; callerId: string }): Promise<number> {
  const { record } = await records.update(id, (each) =>
    patch(each, { readers: [callerId, 'reader'], metadata: { colour: 'red' } }),
  );
  const mark = record?.retag ?? 0;
  await jobs.addRetag(id, mark, { callerId, requestId: 'request' });
  return mark;
}

const isRetagged = async (id: string) => (await records.read(id))?.retag === 0;

/** The number of chunks of a generation with the tags that they are to have. */
async function taggedCount(id: string, generation: string): Promise<number> {
  const record = await records.read(id);
  return record ? chunks.taggedUpTo(generation, { tags: documentTags(record), named: '' }) : 0;
}

test("a grant does not wait until another caller's long document is tagged anew", async () => {
  const [long, small] = [await published('alice', LONG), await published('bob', 1)];
  const mark = await change(long);
  startWorker();
  await until(async () => (await taggedCount(long.id, long.generation)) > 0);
  await change(small);
  await until(() => isRetagged(small.id));
  expect(await taggedCount(long.id, long.generation)).toBeLessThan(LONG / 2);
  // It waits in the line, where the sweeper sees it.
  const lane = 'maintenance' as const;
  expect(await jobs.areLive([{ lane, id: jobIds.retag(long.id, mark) }])).toEqual([true]);
  await until(() => isRetagged(long.id), 20);
  expect(await taggedCount(long.id, long.generation)).toBe(LONG);
  const last = await redis.hGet(keys.chunk(long.generation, LONG - 1), 'tags');
  const record = await records.read(long.id);
  expect(record && documentTags(record)).toBe(last);
  expect(await statisticsDifferences(redis)).toEqual([]);
}, 60_000);

test("a grant does not wait until another caller's long document is cleaned away", async () => {
  const [long, small] = [await published('alice', LONG), await published('bob', 1)];
  const { discarded } = await records.update(long.id, remove);
  await jobs.addCleans(discarded, 'alice');
  startWorker();
  await until(async () => (await chunks.cleaning(long.generation)).cleaned > 0);
  await change(small);
  await until(() => isRetagged(small.id));
  expect(await redis.exists(keys.generation(long.generation))).toBe(1);
  await until(async () => (await redis.exists(keys.generation(long.generation))) === 0, 20);
  expect(await redis.exists(keys.chunk(long.generation, LONG - 1))).toBe(0);
}, 60_000);
