import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { createCommitChange } from '../../../../src/api/services/documents/commit-change.js';
import { createDocumentChanges } from '../../../../src/api/services/documents/document-changes.js';
import { noteCarried } from '../../../../src/shared/documents/attachments/attachment-changes.js';
import { removeWithAttachments } from '../../../../src/shared/documents/attachments/remove-with-attachments.js';
import { createRecords, type Records } from '../../../../src/shared/documents/records.js';
import { fail, publish, replaceContent, retry } from '../../../../src/shared/documents/transitions.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import {
  createChangeDocuments,
  createRemoveReplaced,
} from '../../../../src/workers/ingestion/attachments/remove-replaced.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);
const [FIRST, SECOND, INNER] = [randomUUID(), randomUUID(), randomUUID()] as const;
const ATTACHMENTS = [FIRST, SECOND];
const ALL = [...ATTACHMENTS, INNER];
const LISTS = { writers: ['owner', 'bob'], admins: ['owner'] };
const mail = makeDocument({ ...LISTS, status: 'processing' });

/** A mail that is being read for the first time, with two attachments, of which the first is read and carries another one. */
beforeEach(async () => {
  await redis.flushAll();
  await makeTree();
});

async function makeTree(): Promise<void> {
  await records.create(mail);
  await records.update(mail.id, (each) => noteCarried(each, { ids: ATTACHMENTS, waiting: [] }));
  for (const id of ATTACHMENTS)
    await records.create(makeDocument({ ...LISTS, id, attachmentOf: { documentId: mail.id, depth: 1 } }));
  await records.update(FIRST, (each) => noteCarried(each, { ids: [INNER], waiting: [] }));
  await publishOne(FIRST);
  const attachmentOf = { documentId: FIRST, depth: 2 };
  await records.create(makeDocument({ ...LISTS, id: INNER, attachmentOf }));
}

const publishOne = (documentId: string) =>
  records.update(documentId, (each) =>
    publish(each, { documentId, version: 1, attempt: each.attempt, chunkCount: 0, tokenCount: 0 }),
  );

const nothing = () => Promise.resolve();
const jobs = {
  ingest: nothing,
  ingestAll: nothing,
  forgetIngest: nothing,
  attachments: nothing,
  retag: nothing,
  clean: nothing,
};

const cancelBy = (by: Records, callerId = 'owner') =>
  createDocumentChanges({
    records: by,
    change: createCommitChange(by, jobs),
    jobs,
    admit: () => Promise.reject(new Error('not asked')),
    room: { forGrowth: nothing, forRevocation: nothing },
    waitForDocument: (record) => Promise.resolve(record),
  }).cancel(mail.id, {
    callerId,
    principal: { id: callerId },
    requestId: 'r',
    startedAtMs: 0,
    waitSeconds: null,
    signal: new AbortController().signal,
  });

/** Counts down before and after each write; the process ends at 0. */
function dyingAfter(steps: number): Records {
  let left = steps;
  const step = () => {
    if ((left -= 1) < 0) throw new Error('killed');
  };
  return {
    ...records,
    update: async (...change) => {
      step();
      const updated = await records.update(...change);
      step();
      return updated;
    },
  };
}

const removeReplaced = () =>
  createRemoveReplaced({ records, jobs: { addCleans: nothing } })({ documentId: mail.id });

test('nothing is there any more of a first content that was cancelled, by the time of the response', async () => {
  expect(await cancelBy(records)).toMatchObject({ status: 'cancelled' });
  expect(await records.readMany(ALL)).toEqual([null, null, null]);
  const { attachments, pending } = (await records.read(mail.id)) ?? {};
  expect(attachments).toEqual([]);
  expect(pending).toMatchObject({ carriedSeries: 1 });
  expect(pending?.carried).toBeUndefined();
  expect(await redis.zScore(keys.unfinished, mail.id)).toBeNull();
});

test('a cancellation that ends at any step is made good by the sweep, or by asking again', async () => {
  let kills = 0;
  for (let steps = 0; ; steps += 1) {
    await redis.flushAll();
    await makeTree();
    const wasKilled = await cancelBy(dyingAfter(steps)).then(
      () => false,
      () => true,
    );
    const { status } = (await records.read(mail.id)) ?? {};
    const isListed = (await redis.zScore(keys.unfinished, mail.id)) !== null;
    const left = (await records.readMany(ALL)).filter((record) => record !== null);
    if (status === 'cancelled' && left.length > 0) expect(isListed).toBe(true);
    if (status === 'cancelled' && steps % 2 === 0) await removeReplaced();
    else await cancelBy(records);
    expect(await records.readMany(ALL)).toEqual([null, null, null]);
    expect(await redis.zScore(keys.unfinished, mail.id)).toBeNull();
    if (!wasKilled) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(8);
});

test('an attachment that who cancels may not write stays as a document of its own, and is named', async () => {
  await records.update(FIRST, (each) => ({ record: { ...each, writers: ['owner'] } }));
  await cancelBy(records, 'bob');
  expect(await records.readMany([FIRST, SECOND])).toMatchObject([{ id: FIRST }, null]);
  await records.update(mail.id, (each) => retry(each, makeOperation()));
  await publishOne(mail.id);
  expect(await records.read(mail.id)).toMatchObject({
    attachments: [],
    replacedAttachments: { removals: [], kept: [FIRST] },
  });
});

test('nobody takes anything away who may not write the mail', async () => {
  await expect(cancelBy(records, 'eve')).rejects.toMatchObject({ name: 'ForbiddenError' });
  expect(await records.readMany(ALL)).not.toContain(null);
});

test('content that has failed keeps its attachments, also when it is cancelled then', async () => {
  const failure = { code: 'too_large', message: 'x', stage: 'parsing' } as const;
  await records.update(mail.id, (each) =>
    fail(each, { documentId: mail.id, version: 1, attempt: 1, failure }),
  );
  expect(await cancelBy(records)).toMatchObject({ status: 'failed' });
  expect(await records.readMany(ALL)).not.toContain(null);
  // The next attempt goes on with them.
  await records.update(mail.id, (each) => retry(each, makeOperation()));
  expect((await records.read(mail.id))?.pending).toMatchObject({ carried: { ids: ATTACHMENTS } });
});

test('content that is replaced while it is read for the first time leaves nothing, whatever becomes of the next', async () => {
  const content = makeContent({ storageKey: 'a/2' });
  await records.update(mail.id, (each) =>
    replaceContent(each, { content, operation: makeOperation({ userId: 'bob' }) }),
  );
  expect(await records.read(mail.id)).toMatchObject({
    replacedAttachments: { removals: ATTACHMENTS.map((id) => ({ id, callerId: 'bob' })) },
  });
  await removeReplaced();
  expect(await records.readMany(ALL)).toEqual([null, null, null]);
});

test('a mail can be deleted while what was cancelled is being removed', async () => {
  await cancelBy(dyingAfter(2)).catch(() => undefined);
  expect((await records.read(mail.id))?.status).toBe('cancelled');
  const change = createChangeDocuments({ records, jobs: { addCleans: nothing } }, 'write');
  await Promise.all([
    removeReplaced(),
    removeWithAttachments(change, { documentId: mail.id, principal: { id: 'owner' } }),
  ]);
  expect(await records.readMany([mail.id, ...ALL])).toEqual([null, null, null, null]);
});
