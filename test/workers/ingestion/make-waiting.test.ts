import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDiskStorage } from '../../../src/shared/adapters/disk-storage/disk-storage.js';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { removeWithAttachments } from '../../../src/shared/documents/attachments/remove-with-attachments.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { wasDeleted } from '../../../src/shared/documents/tombstones.js';
import { remove } from '../../../src/shared/documents/transitions.js';
import { IngestError } from '../../../src/shared/errors.js';
import { unpackReceipt } from '../../../src/shared/chunks/stored-receipt.js';
import type { ObjectStorage } from '../../../src/shared/ports.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createDraftObjects } from '../../../src/shared/storage/sources.js';
import { GaveWayError } from '../../../src/shared/fair-scheduling/giving-way.js';
import { attachmentId, createRefuseToWait } from '../../../src/workers/ingestion/attachments/make-one.js';
import { createChangeDocuments } from '../../../src/workers/ingestion/attachments/remove-replaced.js';
import { createMakeWaiting } from '../../../src/workers/ingestion/attachments/make-waiting.js';
import type { ReadContent } from '../../../src/workers/ingestion/read-source.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);
const NAMES = ['a.txt', 'b.txt', 'c.txt'];
const PARENT = randomUUID();
const IDS = NAMES.map((_, position) => attachmentId({ id: PARENT, storageKey: 'mail/1' }, position));
const carried = { ids: IDS, waiting: IDS, missed: [], callerId: 'carl' };
const mail = (): DocumentRecord =>
  makeDocument({
    id: PARENT,
    readers: ['owner', 'bob'],
    status: 'completed',
    stage: 'completed',
    operation: null,
    pending: null,
    attachments: IDS,
    published: makeContent({ kind: 'file', storageKey: 'mail/1', gaps: 0, carried }),
  });

let folder = '';
let storage: ObjectStorage;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-waiting-'));
  storage = await createDiskStorage({ directory: join(folder, 'objects') });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let stepsLeft = Infinity;
const step = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  if ((stepsLeft -= 1) < 0) throw new Error('killed');
  const result = await run();
  if ((stepsLeft -= 1) < 0) throw new Error('killed');
  return result;
};

let jobs: string[] = [];
let onCreating: () => Promise<unknown> = () => Promise.resolve();
beforeEach(async () => {
  await redis.flushAll();
  stepsLeft = Infinity;
  jobs = [];
  onCreating = () => Promise.resolve();
  await records.create(mail());
});

/** Takes the files out of the mail, as a parser does. */
async function takeOut(names = NAMES) {
  const attachments = names.map((filename, position) => ({
    file: join(folder, `kept-${String(position)}`),
    position,
    filename,
    contentType: 'text/plain',
  }));
  for (const { file, filename } of attachments) await writeFile(file, `The text of ${filename}.`);
  return { chunks: [], receipt: unpackReceipt('{}'), attachments };
}

interface Options {
  readonly most?: number;
  readonly readContent?: ReadContent;
}

function open({ most = 100, readContent = () => takeOut() }: Options = {}) {
  return createMakeWaiting({
    records: {
      ...records,
      createBeside: async (record, other) => {
        await onCreating();
        return step(() => records.createBeside(record, other));
      },
      update: (...change) => step(() => records.update(...change)),
    },
    jobs: {
      addIngest: ({ id }) => step(() => Promise.resolve(void jobs.push(id))),
      addRetag: (id) => Promise.resolve(void jobs.push(`retag ${id}`)),
    },
    storage: { ...storage, put: (key, bytes) => step(() => storage.put(key, bytes)) },
    drafts: createDraftObjects(redis),
    refuseToWait: createRefuseToWait(
      redis,
      { maxWaiting: 100, maxWaitingPerCaller: most },
      createMemoryWatch(redis, 0.85),
    ),
    wasDeleted: (id) => wasDeleted(redis, id),
    readContent,
    limitsOf: () => ({ most: 20, mostBytes: 1_000, refusal: null }),
  });
}
const RUN = { requestId: 'r', signal: new AbortController().signal, tries: 1 };
const makeWaiting = (options: Options = {}) => open(options).makeWaiting(PARENT, RUN);
const readParent = () => records.read(PARENT);

test('documents are made on behalf of who put the mail in, with the access that it has now', async () => {
  expect(await redis.zScore(keys.unfinished, PARENT)).not.toBeNull();
  expect(await makeWaiting()).toBe('done');
  for (const record of await records.readMany(IDS))
    expect(record).toMatchObject({
      readers: ['owner', 'bob'],
      operation: { userId: 'carl' },
      attachmentOf: { documentId: PARENT, depth: 1 },
    });
  expect(jobs).toEqual(IDS);
  expect((await readParent())?.published).toMatchObject({ gaps: 0, carried: { waiting: [], missed: [] } });
  expect(await redis.zScore(keys.unfinished, PARENT)).toBeNull();
  expect(await readdir(folder)).toEqual(['objects']);
  expect(await makeWaiting()).toBe('stale');
});

test('reading the file once more gives way to files of others, and goes on in a later turn', async () => {
  const givenWay = open({
    readContent: (_, { givesWayAfter }) =>
      givesWayAfter === 5_000 ? Promise.reject(new GaveWayError()) : takeOut(),
  }).makeWaiting(PARENT, { ...RUN, givesWayAfter: 5_000 });
  await expect(givenWay).rejects.toThrow(GaveWayError);
  expect((await readParent())?.published?.carried).toMatchObject({ waiting: IDS, missed: [] });
  expect(await makeWaiting()).toBe('done');
});

test('a run that ends at any step is made good by the next one, and nothing is there twice', async () => {
  let kills = 0;
  for (let steps = 0; ; steps += 1) {
    await redis.flushAll();
    await records.create(mail());
    jobs = [];
    stepsLeft = steps;
    const wasKilled = await makeWaiting().then(
      () => false,
      () => true,
    );
    stepsLeft = Infinity;
    await makeWaiting();
    expect((await records.readMany(IDS)).every((record) => record !== null)).toBe(true);
    expect(new Set(jobs)).toEqual(new Set(IDS));
    expect((await readParent())?.published?.carried?.waiting).toEqual([]);
    if (!wasKilled) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(15);
});

test('nothing is read while the caller has too much waiting, and only so much is made as there is room for', async () => {
  const other = makeDocument({ operation: makeOperation({ userId: 'carl' }) });
  await records.create(other);
  const notRead = () => Promise.reject(new Error('read'));
  await expect(makeWaiting({ most: 2, readContent: notRead })).rejects.toMatchObject({ name: 'NotYetError' });
  await records.update(other.id, remove);
  await expect(makeWaiting({ most: 2 })).rejects.toMatchObject({ name: 'NotYetError' });
  expect((await readParent())?.published?.carried?.waiting).toEqual(IDS.slice(2));
  for (const id of IDS.slice(0, 2))
    await records.update(id, (each) => ({ record: { ...each, status: 'completed' } }));
  expect(await makeWaiting({ most: 2 })).toBe('done');
  expect((await records.readMany(IDS)).every((record) => record !== null)).toBe(true);
});

test('what cannot be taken out of the mail any more is a gap', async () => {
  await makeWaiting({ readContent: () => takeOut(['a.txt']) });
  const record = await readParent();
  expect(record?.published).toMatchObject({ gaps: 2, carried: { waiting: [], missed: IDS.slice(1) } });
  expect(record?.retag).toBeGreaterThan(0);
  expect(jobs).toEqual([IDS[0], `retag ${PARENT}`]);
});

test('a mail that cannot be read any more does not wait for ever', async () => {
  const damaged = () => Promise.reject(new IngestError('corrupt', 'damaged'));
  expect(await makeWaiting({ readContent: damaged })).toBe('done');
  expect((await readParent())?.published).toMatchObject({ gaps: 3, carried: { missed: IDS } });
});

test('a file that takes too long is tried again, and given up in the end', async () => {
  const slow = () => Promise.reject(new IngestError('timeout', 'slow'));
  await expect(makeWaiting({ readContent: slow })).rejects.toThrow('slow');
  expect((await readParent())?.published?.carried?.waiting).toEqual(IDS);
  await open().giveUp(PARENT);
  expect((await readParent())?.published).toMatchObject({ gaps: 3, carried: { waiting: [] } });
});

test('no document is made for a mail that is removed in the last moment', async () => {
  const change = createChangeDocuments({ records, jobs: { addCleans: () => Promise.resolve() } }, null);
  onCreating = () => {
    onCreating = () => Promise.resolve();
    return removeWithAttachments(change, { documentId: PARENT, principal: { id: 'owner' } });
  };
  await makeWaiting();
  expect(await records.readMany([PARENT, ...IDS])).toEqual([null, null, null, null]);
});

test('no document is made between those that are removed and the mail that carried them', async () => {
  const change = createChangeDocuments({ records, jobs: { addCleans: () => Promise.resolve() } }, null);
  let hasBegun = false;
  const removing = removeWithAttachments(
    async (removal, transition) => {
      if (removal.documentId !== PARENT) hasBegun = true;
      else if (hasBegun) await makeWaiting();
      return change(removal, transition);
    },
    { documentId: PARENT, principal: { id: 'owner' } },
  );
  await removing;
  expect(hasBegun).toBe(true);
  expect(await records.readMany([PARENT, ...IDS])).toEqual([null, null, null, null]);
});
