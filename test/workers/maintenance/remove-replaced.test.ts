import { beforeEach, expect, test } from '@jest/globals';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { noteCarried } from '../../../src/shared/documents/attachments/attachment-changes.js';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import { cancel, publish, replaceContent } from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { attachmentId } from '../../../src/workers/ingestion/attachments/make-one.js';
import { createRemoveReplaced } from '../../../src/workers/ingestion/attachments/remove-replaced.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);

let stepsLeft = Infinity;
const dyingUpdate: Records['update'] = async (...change) => {
  if ((stepsLeft -= 1) < 0) throw new Error('killed');
  const updated = await records.update(...change);
  if ((stepsLeft -= 1) < 0) throw new Error('killed');
  return updated;
};

let parent: DocumentRecord;
beforeEach(async () => {
  await redis.flushAll();
  stepsLeft = Infinity;
  parent = makeDocument({
    writers: ['owner', 'carl'],
    pending: makeContent({ kind: 'file', storageKey: 'mail/1' }),
    status: 'processing',
  });
  await records.create(parent);
});

/** Makes so many documents of what the pending content of the mail carries. */
async function carry(count: number): Promise<readonly string[]> {
  const now = await records.read(parent.id);
  const storageKey = now?.pending?.storageKey ?? '';
  const ids = Array.from({ length: count }, (_, position) =>
    attachmentId({ id: parent.id, storageKey }, position),
  );
  await records.update(parent.id, (each) => noteCarried(each, { ids: [...ids], waiting: [] }));
  const { writers } = parent;
  const attachmentOf = { documentId: parent.id, depth: 1 };
  for (const id of ids) await records.create(makeDocument({ id, writers, attachmentOf }));
  return ids;
}

/** Puts other content into the mail, as the caller has asked for. */
async function putOther(storageKey = 'mail/2', userId = 'owner'): Promise<void> {
  await records.update(parent.id, (record) =>
    replaceContent(record, {
      content: makeContent({ kind: 'file', storageKey }),
      operation: makeOperation({ userId }),
    }),
  );
}

/** Publishes the pending content, and does what is left to do then. */
async function publishAll(): Promise<void> {
  const record = await records.read(parent.id);
  if (!record) throw new Error('the mail is gone');
  const { id: documentId, version, attempt } = record;
  const counts = { chunkCount: 0, tokenCount: 0 };
  await records.update(documentId, (each) => publish(each, { documentId, version, attempt, ...counts }));
}

const removeReplaced = (by: Records = records) =>
  createRemoveReplaced({ records: by, jobs: { addCleans: () => Promise.resolve() } })({
    documentId: parent.id,
  });

test('documents of the content before stay until other content is published', async () => {
  const before = await carry(2);
  await publishAll();
  await putOther();
  const after = await carry(1);
  expect(await records.readMany(before)).toMatchObject(before.map((id) => ({ id })));
  expect((await records.read(parent.id))?.attachments).toEqual([...before, ...after]);
  await publishAll();
  expect(await redis.zScore(keys.unfinished, parent.id)).not.toBeNull();
  await removeReplaced();
  expect(await records.readMany(before)).toEqual([null, null]);
  expect(await records.readMany(after)).toMatchObject([{ id: after[0] }]);
  expect((await records.read(parent.id))?.attachments).toEqual(after);
  expect(await redis.zScore(keys.unfinished, parent.id)).toBeNull();
});

test('content that fails, or is cancelled, takes no document of the content before away', async () => {
  const before = await carry(1);
  await publishAll();
  await putOther();
  const failed = await carry(1);
  await records.update(parent.id, cancel);
  await removeReplaced();
  expect(await records.readMany(before)).toMatchObject([{ id: before[0] }]);
  await putOther('mail/3');
  await publishAll();
  await removeReplaced();
  expect(await records.readMany([...before, ...failed])).toEqual([null, null]);
  expect((await records.read(parent.id))?.attachments).toEqual([]);
});

test('a removal that ends at any step is made good by the next one, and takes nothing but what was replaced', async () => {
  let kills = 0;
  for (let steps = 1; ; steps += 1) {
    await redis.flushAll();
    await records.create(parent);
    const [first = '', second = ''] = await carry(2);
    await publishAll();
    const inner = makeDocument({ attachmentOf: { documentId: first, depth: 2 }, writers: ['owner'] });
    await records.create(inner);
    await records.update(first, (each) => ({ record: { ...each, attachments: [inner.id] } }));
    await records.update(second, (each) => ({ record: { ...each, writers: ['fay'], admins: ['fay'] } }));
    await putOther();
    const after = await carry(1);
    await publishAll();
    stepsLeft = steps;
    const dying = { ...records, update: dyingUpdate };
    const wasKilled = await removeReplaced(dying).then(
      () => false,
      () => true,
    );
    stepsLeft = Infinity;
    await removeReplaced();
    expect(await records.readMany([first, inner.id])).toEqual([null, null]);
    expect(await records.readMany([second, ...after])).not.toContain(null);
    expect(await records.read(parent.id)).toMatchObject({
      attachments: after,
      replacedAttachments: { removals: [], kept: [second] },
    });
    if (!wasKilled) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(8);
});

test('a caller who may not write an attachment does not remove it by new content', async () => {
  const [own = '', shared = ''] = await carry(2);
  await publishAll();
  await records.update(own, (each) => ({ record: { ...each, writers: ['owner'] } }));
  await putOther('mail/2', 'carl');
  await publishAll();
  await removeReplaced();
  expect(await records.readMany([own, shared])).toMatchObject([{ id: own }, null]);
  expect((await records.read(parent.id))?.replacedAttachments).toEqual({ removals: [], kept: [own] });
  // It is named until content is published again.
  await putOther('mail/3', 'owner');
  await publishAll();
  await removeReplaced();
  expect(await records.read(own)).not.toBeNull();
  expect((await records.read(parent.id))?.replacedAttachments).toBeNull();
});
