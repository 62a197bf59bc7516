import { beforeAll, expect, test } from '@jest/globals';
import { createChunks, type Chunks } from '../../../src/shared/chunks/chunks.js';
import { documentTags } from '../../../src/shared/documents/record-fields.js';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import { patch } from '../../../src/shared/documents/transitions.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { createRetagJob, createRetagWithMemory } from '../../../src/workers/maintenance/retag-job.js';
import { makeDocument } from '../../support/documents.js';
import { ProcessDied } from '../../support/dying.js';
import { playIngest } from '../../support/play-worker.js';
import { statisticsDifferences } from '../../support/recount-statistics.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
let records: Records;

beforeAll(() => {
  records = createRecords(redis);
});

const COUNT = 150;

async function publishedDocument() {
  const document = makeDocument();
  await records.create(document);
  const texts = Array.from({ length: COUNT }, (_, n) => `chunk ${String(n)}`);
  await playIngest({ records, chunks: createChunks(redis) }, document.id, texts);
  return document;
}

/** Changes metadata and access; answers the mark of the job that follows. */
async function change(id: string, colour: string, readers: string[]): Promise<number> {
  const lists = { readers, writers: ['eve'], admins: ['eve'] };
  const { record } = await records.update(id, (each) => patch(each, { ...lists, metadata: { colour } }));
  return record?.retag ?? 0;
}

async function expectTagged(id: string): Promise<void> {
  const record = await records.read(id);
  if (!record?.published?.generation) throw new Error('not published');
  expect(record.retag).toBe(0);
  const { generation } = record.published;
  const numbers = Array.from({ length: COUNT }, (_, n) => n);
  const tags = await Promise.all(numbers.map((n) => redis.hGet(keys.chunk(generation, n), 'tags')));
  expect(new Set(tags)).toEqual(new Set([documentTags(record)]));
  expect(await statisticsDifferences(redis)).toEqual([]);
}

const retagWith = (chunks: Chunks) =>
  createRetagJob({ records, chunks, statistics: createTermStatistics(redis) });

test.each([0, 1, 2])(
  'a job that is overtaken after %s of its batches and dies then leaves no tag or count of what it knew',
  async (batches) => {
    const { id, ownerId } = await publishedDocument();
    const chunks = createChunks(redis);
    const first = await change(id, 'red', ['eve']);
    let done = 0;
    let outcome = '';
    const overtaken = retagWith({
      ...chunks,
      writeTags: async (...given) => {
        if ((done += 1) <= batches) return chunks.writeTags(...given);
        const second = await change(id, 'blue', [ownerId]);
        outcome = await retagWith(chunks)({ documentId: id, mark: second });
        // It was under way already, and is the last that this process does.
        expect(await chunks.writeTags(...given)).toBe('overtaken');
        throw new ProcessDied('after it was overtaken');
      },
    });
    await expect(overtaken({ documentId: id, mark: first })).rejects.toThrow(ProcessDied);
    expect(outcome).toBe('done');
    await expectTagged(id);
    // The queue gives it to another worker.
    expect(await retagWith(chunks)({ documentId: id, mark: first })).toBe('stale');
    await expectTagged(id);
  },
);

test('a job that another follows at once ends with the tags of the newest change', async () => {
  const { id, ownerId } = await publishedDocument();
  const chunks = createChunks(redis);
  const marks = [await change(id, 'red', ['eve']), await change(id, 'blue', [ownerId, 'bob'])];
  await Promise.all(marks.map((mark) => retagWith(chunks)({ documentId: id, mark })));
  await expectTagged(id);
});

test('no tags are written while the disk of Redis is short, also where they become shorter', async () => {
  const { id, ownerId } = await publishedDocument();
  const longer = await change(id, 'ultramarine', [ownerId]);
  await retagWith(createChunks(redis))({ documentId: id, mark: longer });
  const mark = await change(id, 'red', [ownerId]);
  const disk = { isShort: true };
  const memory = createMemoryWatch(redis, 1, {
    disk: 'redis',
    state: () => Promise.reject(new Error('not asked for')),
    isShort: () => Promise.resolve(disk.isShort),
    requireRoom: () => Promise.resolve(),
  });
  const disks = { redis: { isShort: () => Promise.resolve(disk.isShort) } };
  const parts = { records, chunks: createChunks(redis), statistics: createTermStatistics(redis), redis };
  const retag = createRetagWithMemory({ ...parts, memory, disks });
  await expect(retag({ documentId: id, mark })).rejects.toThrow(UnavailableError);
  disk.isShort = false;
  expect(await retag({ documentId: id, mark })).toBe('done');
  await expectTagged(id);
});
