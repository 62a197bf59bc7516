import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import { publish, remove, replaceContent, startAttempt } from '../../../src/shared/documents/transitions.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createDraftObjects, sourceKey } from '../../../src/shared/storage/sources.js';
import {
  createObjectLists,
  createRemoveUnreferencedObjects,
} from '../../../src/workers/maintenance/remove-unreferenced-objects.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const MINUTE = 60_000;
const HOUR = 3_600_000;

const { redis } = useTestRedis({ failFast: false });
let records: Records;

beforeAll(() => {
  records = createRecords(redis);
});
beforeEach(() => redis.flushAll());

/** Removes from a storage that cannot remove `broken`; answers what it was asked to remove. */
async function run({ keepMilliseconds = HOUR, broken = [] as readonly string[], isShort = false } = {}) {
  const asked: string[] = [];
  const storage = {
    remove: async (key: string) => {
      asked.push(key);
      await Promise.resolve();
      if (broken.includes('all') || broken.includes(key)) throw new UnavailableError('object storage');
    },
  };
  const isDiskShort = () => Promise.resolve(isShort);
  const objects = createObjectLists({ redis, records, keepMilliseconds, isDiskShort });
  const counts = await createRemoveUnreferencedObjects({
    objects,
    storage,
    logger: pino({ level: 'silent' }),
  })();
  return { asked, counts };
}

/** As if they had been noted so long ago by Redis' clock. */
async function note(list: string, members: readonly string[], milliseconds: number): Promise<void> {
  // Redis runs on this machine.
  const score = Date.now() - milliseconds;
  await redis.zAdd(
    list,
    members.map((value) => ({ value, score })),
  );
}

async function publishedDocument() {
  const document = makeDocument();
  const pending = makeContent({ storageKey: sourceKey({ documentId: document.id, version: 1 }) });
  const record = { ...document, pending };
  await records.create(record);
  const fence = { documentId: record.id, version: 1, attempt: 1 };
  await records.update(record.id, (each) => startAttempt(each, fence));
  await records.update(record.id, (each) => publish(each, { ...fence, chunkCount: 1, tokenCount: 1 }));
  return { id: record.id, key: pending.storageKey };
}

test('the source of a replaced or deleted document is kept for the grace, by the clock of Redis', async () => {
  const { id, key } = await publishedDocument();
  const newKey = sourceKey({ documentId: id, version: 2 });
  await records.update(id, (record) =>
    replaceContent(record, {
      content: makeContent({ version: 2, storageKey: newKey }),
      operation: makeOperation(),
    }),
  );
  const fence = { documentId: id, version: 2, attempt: 1 };
  await records.update(id, (each) => publish(each, { ...fence, chunkCount: 1, tokenCount: 1 }));
  expect((await run()).asked).toEqual([]);
  expect((await run({ keepMilliseconds: 0 })).asked).toEqual([key]);
  expect((await run({ keepMilliseconds: 0 })).asked).toEqual([]);

  await records.update(id, remove);
  expect((await run()).asked).toEqual([]);
  expect((await run({ keepMilliseconds: 0 })).asked).toEqual([newKey]);
  expect(await redis.zCard(keys.unreferencedObjects)).toBe(0);
});

test('while the disk is nearly full, sources without a record are kept for a minute, and drafts as ever', async () => {
  const sources = [1, 2].map((version) => sourceKey({ documentId: makeDocument().id, version }));
  await note(keys.unreferencedObjects, sources.slice(0, 1), 2 * MINUTE);
  await note(keys.unreferencedObjects, sources.slice(1), MINUTE / 2);
  await note(keys.draftObjects, ['draft'], 2 * MINUTE);
  expect((await run()).asked).toEqual([]);
  expect((await run({ isShort: true })).asked).toEqual(sources.slice(0, 1));
});

test('what a record refers to after all stays, and is noted no more', async () => {
  const { id, key } = await publishedDocument();
  const pending = sourceKey({ documentId: id, version: 2 });
  await records.update(id, (record) => ({
    record: { ...record, pending: makeContent({ version: 2, storageKey: pending }) },
  }));
  await note(keys.unreferencedObjects, [key, pending], 2 * HOUR);
  await note(keys.draftObjects, [key], 100 * HOUR);
  const { asked, counts } = await run();
  expect(asked).toEqual([]);
  expect(counts).toEqual({ removed: 0, kept: 3, failed: 0 });
  expect(await redis.zCard(keys.unreferencedObjects)).toBe(0);
  expect(await redis.zCard(keys.draftObjects)).toBe(0);
});

test('uploads that a crash left are removed after two days, the storage marker in use never', async () => {
  await redis.set(keys.storageMarker, 'markers/used');
  await note(
    keys.draftObjects,
    ['markers/used', 'markers/old', sourceKey({ documentId: makeDocument().id, version: 1 })],
    49 * HOUR,
  );
  await createDraftObjects(redis).announce('fresh');
  const { asked } = await run();
  expect(asked).toHaveLength(2);
  expect(asked).toContain('markers/old');
  expect(await redis.zRange(keys.draftObjects, 0, -1)).toEqual(['fresh']);
});

test('members that a version before noted in a set get their time, and their grace, now', async () => {
  await redis.sAdd(keys.garbageObjects, ['old/1', 'old/2']);
  expect((await run()).asked).toEqual([]);
  expect(await redis.exists(keys.garbageObjects)).toBe(0);
  expect((await run({ keepMilliseconds: 0 })).asked.sort()).toEqual(['old/1', 'old/2']);
});

test('an object that cannot be removed stops no other, and comes up again later', async () => {
  await note(keys.unreferencedObjects, ['a', 'b', 'c'], 2 * HOUR);
  expect(await run({ broken: ['a'] })).toMatchObject({ counts: { removed: 2, failed: 1 } });
  expect((await run()).asked).toEqual([]);
  expect(await redis.zRange(keys.unreferencedObjects, 0, -1)).toEqual(['a']);
  await note(keys.unreferencedObjects, ['a'], HOUR + 1_000);
  expect((await run()).asked).toEqual(['a']);
});

test('a run takes a bounded number, and gives up early where storage is away', async () => {
  const many = Array.from({ length: 2_500 }, (_, n) => `many/${String(n)}`);
  await note(keys.unreferencedObjects, many, 2 * HOUR);
  expect((await run({ broken: ['all'] })).asked.length).toBeLessThanOrEqual(16);
  expect((await run()).asked).toHaveLength(1_000);
  expect((await run()).asked).toHaveLength(1_000);
});
