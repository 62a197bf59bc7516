import { beforeEach, expect, test } from '@jest/globals';
import type { DocumentRecord } from '../../../../../src/shared/document.js';
import { documentTags } from '../../../../../src/shared/documents/record-fields.js';
import { createRecords } from '../../../../../src/shared/documents/records.js';
import type { JobOrigin } from '../../../../../src/shared/queues/job-kinds.js';
import { keys } from '../../../../../src/shared/redis/keys.js';
import { filterTagsTask } from '../../../../../src/workers/maintenance/sweep/after-updates.js';
import type { SweepParts } from '../../../../../src/workers/maintenance/sweep/sweep-task.js';
import { makeContent, makeDocument } from '../../../../support/documents.js';
import { useTestRedis } from '../../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const HOUR = 3_600_000;
let jobs: string[] = [];

beforeEach(async () => {
  await redis.flushAll('SYNC');
  await redis.hSet(keys.schema, 'index', 'quire:chunks:some');
  jobs = [];
});

/** Takes all steps of one sweep at a time in ms. */
async function sweepAt(now: number): Promise<void> {
  const addRetag = (id: string, mark: number, origin: JobOrigin) => {
    jobs.push(`${id} ${String(mark)} ${origin.callerId}`);
    return Promise.resolve();
  };
  // @NOTE the task uses these alone
  const step = filterTagsTask({ redis, records, jobs: { addRetag } } as unknown as SweepParts).begin(now);
  while (await step());
}

/** A document as an earlier version wrote it, which knew fewer tags. */
async function makeOld(changes: Partial<DocumentRecord>): Promise<string> {
  const record = makeDocument(changes);
  await records.create(record);
  await redis.hSet(keys.document(record.id), 'tags', 'old');
  return record.id;
}
const tagsOf = (id: string) => redis.hGet(keys.document(id), 'tags');

test('documents of an earlier version get the tags of today where these are others', async () => {
  const nested = await makeOld({ metadata: { order: { items: [{ sku: 'B2' }] } } });
  const named = await makeOld({ pending: makeContent({ filename: 'Zürich.txt'.normalize('NFD') }) });
  const plain = makeDocument({ metadata: { list: [1, 'x'], Zürich: 1 } });
  await records.create(plain);
  const before = await records.read(nested);
  await sweepAt(0);
  for (const id of [nested, named]) {
    const record = await records.read(id);
    expect(record && documentTags(record)).toBe(await tagsOf(id));
    expect(jobs).toContain(`${id} ${String(record?.retag)} ${String(record?.ownerId)}`);
  }
  expect((await records.read(nested))?.updatedAt).toBe(before?.updatedAt);
  expect((await records.read(plain.id))?.retag).toBe(0);
  expect(jobs).toHaveLength(2);
});

test('nothing is rewritten while no index of the Query Engine serves, which alone reads tags', async () => {
  await redis.hDel(keys.schema, 'index');
  const id = await makeOld({});
  await sweepAt(0);
  expect([await tagsOf(id), jobs]).toEqual(['old', []]);
  await redis.hSet(keys.schema, 'index', 'quire:chunks:some');
  await sweepAt(1);
  expect(jobs).toHaveLength(1);
});

test('this is done once, and for an hour more for what an earlier version still writes', async () => {
  await makeOld({ metadata: { a: [{ b: 1 }] } });
  await sweepAt(0);
  await sweepAt(HOUR / 2);
  expect(jobs).toHaveLength(1);
  await makeOld({ metadata: { a: [{ b: 2 }] } });
  await sweepAt(HOUR);
  expect(jobs).toHaveLength(2);
  await sweepAt(HOUR + 1);
  // Nothing was left to be looked at.
  await sweepAt(HOUR + 2);
  await makeOld({ metadata: { a: [{ b: 3 }] } });
  await sweepAt(2 * HOUR);
  expect(jobs).toHaveLength(2);
});
