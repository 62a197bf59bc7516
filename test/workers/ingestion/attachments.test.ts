import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDiskStorage } from '../../../src/shared/adapters/disk-storage/disk-storage.js';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { wasDeleted } from '../../../src/shared/documents/tombstones.js';
import { cancel, remove, retry } from '../../../src/shared/documents/transitions.js';
import { unpackReceipt } from '../../../src/shared/chunks/stored-receipt.js';
import { createMemoryWatch } from '../../../src/shared/redis/memory.js';
import type { ObjectStorage } from '../../../src/shared/ports.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createDraftObjects } from '../../../src/shared/storage/sources.js';
import { createMakeAttachments } from '../../../src/workers/ingestion/attachments/make-attachments.js';
import { createRefuseToWait } from '../../../src/workers/ingestion/attachments/make-one.js';
import { createRemoveReplaced } from '../../../src/workers/ingestion/attachments/remove-replaced.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);
const drafts = createDraftObjects(redis);
let folder = '';
let storage: ObjectStorage;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-attachments-'));
  storage = await createDiskStorage({ directory: join(folder, 'objects') });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The number of steps before the process ends. */
let stepsLeft = Infinity;
const step = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  if (stepsLeft <= 0) throw new Error('killed');
  stepsLeft -= 1;
  const result = await run();
  if (stepsLeft <= 0) throw new Error('killed');
  stepsLeft -= 1;
  return result;
};

let jobs: string[] = [];
let parent: DocumentRecord;
let documents: readonly string[] = [];
beforeEach(async () => {
  await redis.flushAll();
  stepsLeft = Infinity;
  jobs = [];
  documents = [];
  onCreating = () => Promise.resolve();
  onCreated = () => Promise.resolve();
  parent = makeDocument({
    readers: ['bob'],
    writers: ['owner', 'carl'],
    pending: makeContent({ kind: 'file', contentType: 'message/rfc822', storageKey: 'mail/1' }),
    status: 'processing',
  });
  await records.create(parent);
});

function openMaker(limits = { maxWaiting: 100, maxWaitingPerCaller: 100 }) {
  return createMakeAttachments({
    records: {
      ...records,
      createBeside: async (record, other) => {
        await onCreating();
        const isCreated = await step(() => records.createBeside(record, other));
        await onCreated();
        return isCreated;
      },
      update: (...change) => step(() => records.update(...change)),
    },
    jobs: {
      addIngest: ({ id }) => step(() => Promise.resolve(void jobs.push(id))),
      addCleans: () => Promise.resolve(),
    },
    storage: { ...storage, put: (key, bytes) => step(() => storage.put(key, bytes)) },
    drafts,
    refuseToWait: createRefuseToWait(redis, limits, createMemoryWatch(redis, 0.85)),
    wasDeleted: (id) => wasDeleted(redis, id),
  });
}

async function makeAll(names: readonly string[], make = openMaker(), before?: DocumentRecord | null) {
  const kept = names.map((filename, position) => ({
    file: join(folder, `kept-${String(position)}`),
    position,
    filename,
    contentType: 'application/octet-stream',
  }));
  for (const { file, filename } of kept) await writeFile(file, `The text of ${filename}.`);
  const attachments = names.map((filename) => ({
    filename,
    content_type: 'text/plain',
    size_bytes: 1,
    document_id: null,
    reason: null,
  }));
  const known = before ?? (await records.read(parent.id));
  if (!known) throw new Error('the mail is gone');
  const { id: documentId, version, attempt } = known;
  const run = { documentId, version, attempt, generation: generationId(known) };
  const receipt = { ...unpackReceipt('{}'), attachments };
  const made = await make(known, { run, attachments: kept, receipt, requestId: 'r' });
  documents = made?.attachments.flatMap(({ document_id: id }) => id ?? []) ?? [];
  return made;
}

/** Called before and after the document of an attachment is written. */
let onCreating: () => Promise<unknown> = () => Promise.resolve();
let onCreated: () => Promise<unknown> = () => Promise.resolve();

test('documents have the owner, the access and the caller of the mail at that moment', async () => {
  await makeAll(['a.txt', 'b.md']);
  const [first, second] = await records.readMany(documents);
  expect(first).toMatchObject({
    ownerId: 'owner',
    readers: ['bob'],
    writers: ['owner', 'carl'],
    metadata: { parent_document_id: parent.id, attachment_filename: 'a.txt' },
    attachmentOf: { documentId: parent.id, depth: 1 },
    pending: { kind: 'file', contentType: 'text/plain', filename: 'a.txt' },
  });
  expect(second?.pending?.contentType).toBe('text/markdown');
  expect((await records.read(parent.id))?.attachments).toEqual(documents);
  expect(jobs).toEqual(documents);
});

test('a twin that ends after it has named them leaves waiting what waits', async () => {
  await records.update(parent.id, (now) => ({ record: { ...now, published: now.pending } }));
  const before = await records.read(parent.id);
  await makeAll(['a.txt', 'b.txt']);
  stepsLeft = 2;
  await makeAll(['a.txt', 'b.txt'], openMaker(), before).catch(() => undefined);
  expect((await records.read(parent.id))?.pending?.carried?.waiting).toHaveLength(2);
});

test('a run that ends at any step is made good by the next one, and nothing is there twice', async () => {
  const names = ['a.txt', 'b.txt', 'c.txt'];
  let kills = 0;
  for (let steps = 1; ; steps += 1) {
    await redis.flushAll();
    await records.create(parent);
    jobs = [];
    stepsLeft = steps;
    const wasKilled = await makeAll(names).then(
      () => false,
      () => true,
    );
    stepsLeft = Infinity;
    await makeAll(names);
    expect(new Set(documents).size).toBe(3);
    expect((await records.readMany(documents)).every((record) => record !== null)).toBe(true);
    expect((await records.read(parent.id))?.attachments).toEqual(documents);
    expect(new Set(jobs)).toEqual(new Set(documents));
    if (!wasKilled) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(10);
});

test('what there is no room for waits, and the mail goes on', async () => {
  const made = await makeAll(['a.txt', 'b.txt'], openMaker({ maxWaiting: 100, maxWaitingPerCaller: 2 }));
  expect(made?.attachments.map(({ reason }) => reason)).toEqual([null, null]);
  expect(made).toMatchObject({ gap_count: 0 });
  const [first, second = ''] = documents;
  expect(await records.readMany(documents)).toMatchObject([{ id: first }, null]);
  const noted = await records.read(parent.id);
  expect(noted?.pending?.carried).toEqual({
    ids: documents,
    waiting: [second],
    missed: [],
    callerId: 'owner',
  });
});

test('nothing is made of what replaces published content before that is published itself', async () => {
  const published = makeContent({ kind: 'file', storageKey: 'mail/0' });
  await records.update(parent.id, (each) => ({ record: { ...each, published } }));
  const made = await makeAll(['a.txt', 'b.txt']);
  expect(made?.attachments.map(({ reason }) => reason)).toEqual([null, null]);
  expect(await records.readMany(documents)).toEqual([null, null]);
  expect((await records.read(parent.id))?.pending?.carried).toMatchObject({
    ids: documents,
    waiting: documents,
  });
});

test('a document that was deleted is not made again by a run of the same content', async () => {
  await makeAll(['a.txt', 'b.txt']);
  const [deleted = ''] = documents;
  await records.update(deleted, remove);
  const made = await makeAll(['a.txt', 'b.txt']);
  expect(made?.attachments[0]).toMatchObject({ document_id: null, reason: 'Its document was deleted.' });
  expect(await records.read(deleted)).toBeNull();
});

test('nothing is left where the mail is removed meanwhile', async () => {
  onCreated = () => records.update(parent.id, remove);
  expect(await makeAll(['a.txt', 'b.txt', 'c.txt'])).toBeNull();
  onCreated = () => Promise.resolve();
  expect(await redis.hLen(keys.ingests)).toBe(0);
});

/** Changes the mail in the last moment before a document of an attachment is written, once. */
function meanwhile(change: (record: DocumentRecord) => DocumentRecord): void {
  onCreating = () => {
    onCreating = () => Promise.resolve();
    return records.update(parent.id, (record) => ({ record: change(record) }));
  };
}

test('access that is taken away while a document is made is not in it', async () => {
  meanwhile((record) => ({ ...record, readers: [], writers: ['owner'] }));
  await makeAll(['a.txt', 'b.txt']);
  for (const record of await records.readMany(documents))
    expect(record).toMatchObject({ readers: [], writers: ['owner'] });
  expect(documents).toHaveLength(2);
});

test('a document gets the access that is on its way to attachments that are there', async () => {
  const lists = { readers: [], writers: ['owner'], admins: ['owner'] };
  meanwhile((record) => ({ ...record, accessChange: { id: 'change', ...lists } }));
  await makeAll(['a.txt', 'b.txt']);
  for (const record of await records.readMany(documents)) expect(record).toMatchObject(lists);
  expect((await records.readMany(documents))[0]?.accessChange).toBeUndefined();
  expect(documents).toHaveLength(2);
});

test('no document is made for an attempt that is cancelled meanwhile', async () => {
  onCreating = () => records.update(parent.id, cancel);
  await makeAll(['a.txt']);
  expect(documents).toEqual([]);
  expect(jobs).toEqual([]);
  expect(await redis.hLen(keys.ingests)).toBe(0);
});

test('a mail that is cancelled at any moment keeps nothing that was made, and a retry makes all of it anew', async () => {
  const names = ['a.txt', 'b.txt', 'c.txt'];
  const removeReplaced = createRemoveReplaced({ records, jobs: { addCleans: () => Promise.resolve() } });
  for (let moment = 0; moment <= 2 * names.length; moment += 1) {
    await redis.flushAll();
    await records.create(parent);
    let left = moment;
    const cancelInTime = async () => {
      if ((left -= 1) === 0) await records.update(parent.id, cancel);
    };
    [onCreating, onCreated] = [cancelInTime, cancelInTime];
    await makeAll(names);
    [onCreating, onCreated] = [() => Promise.resolve(), () => Promise.resolve()];
    await records.update(parent.id, cancel);
    const before = (await records.read(parent.id))?.attachments ?? [];
    expect(before).toHaveLength(3);
    await records.update(parent.id, (record) => retry(record, makeOperation()));
    // Attachments made before may be removed before, or after, others are there.
    if (moment % 2 === 0) await removeReplaced({ documentId: parent.id });
    await makeAll(names);
    await removeReplaced({ documentId: parent.id });
    expect(await records.readMany(before)).toEqual([null, null, null]);
    expect(await records.readMany(documents)).toMatchObject(
      names.map((filename) => ({ pending: { filename } })),
    );
    expect(await records.read(parent.id)).toMatchObject({
      attachments: documents,
      pending: { carried: { ids: documents, waiting: [] }, carriedSeries: 1 },
      replacedAttachments: { removals: [], kept: [] },
    });
  }
});
