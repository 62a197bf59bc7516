import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createDuplicates } from '../../src/api/services/ingest/duplicates.js';
import { createJobRequests } from '../../src/api/services/ingest/job-requests.js';
import { createStoreTogether } from '../../src/api/services/ingest/store-records.js';
import type { DocumentRecord } from '../../src/shared/document.js';
import { createRecords, type Records } from '../../src/shared/documents/records.js';
import { shortSourceKey } from '../../src/shared/storage/sources.js';
import { makeContent, makeDocument } from '../support/documents.js';
import { idsOf } from '../support/text-groups.js';
import { useJobs } from '../support/use-jobs.js';
import { useTestRedis } from '../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const jobs = useJobs({ url, redis });
const logger = pino({ level: 'silent' });

beforeEach(async () => {
  await redis.flushAll();
});

function shortText(ownerId: string, { waitSeconds = 20, id = randomUUID() } = {}) {
  const source = { storageKey: shortSourceKey({ documentId: id, version: 1 }), bytes: Buffer.from('text') };
  const pending = makeContent({ storageKey: source.storageKey });
  const record = makeDocument({ id, ownerId, pending, operation: null });
  const principal = { id: ownerId };
  const context = { callerId: ownerId, principal, requestId: 'request', startedAtMs: 0, waitSeconds };
  return { id, document: { record, source, onDuplicate: 'new' as const }, context };
}
type ShortText = ReturnType<typeof shortText>;

const openStore = (records: Records) =>
  createStoreTogether({
    records,
    jobs: createJobRequests(jobs, logger),
    sources: { discard: () => Promise.resolve() },
    duplicates: createDuplicates(redis, records),
    replaceSource: () => Promise.resolve(null),
  });

/** Stores all of these at the same time. Resolves with the ids in the order in which their waits began. */
async function storeAtOnce(texts: readonly ShortText[], records: Records = createRecords(redis)) {
  const store = openStore(records);
  const begun: string[] = [];
  const onWritten = (written: readonly DocumentRecord[]) => void begun.push(...idsOf(written));
  const ended = await Promise.allSettled(
    texts.map(({ document, context }) => store({ document, context, onWritten })),
  );
  return { begun, ended: ended.map((end) => (end.status === 'fulfilled' ? end.value.type : end.status)) };
}

/** The documents of each job that waits: of groups, and alone. */
async function queued() {
  const groups = await jobs.queue('ingestion-groups').getPrioritized();
  const singles = await jobs.queue('ingestion-quick').getPrioritized();
  return {
    groups: groups.map(({ data }) => (data as { documentIds: string[] }).documentIds),
    alone: singles.map(({ data }) => (data as { documentId: string }).documentId),
  };
}

test('a text that comes alone is stored at once and gets a job of its own', async () => {
  const only = shortText('alice');
  expect(await storeAtOnce([only])).toEqual({ begun: [only.id], ended: ['written'] });
  expect(await queued()).toEqual({ groups: [], alone: [only.id] });
  expect(await createRecords(redis).readGroup(only.id)).toBeNull();
});

test('one that comes when no step is under way any more is stored, too', async () => {
  const store = openStore(createRecords(redis));
  const [first, second] = [shortText('alice'), shortText('alice')];
  await store({ ...first, onWritten: () => undefined });
  await setImmediate();
  await store({ ...second, onWritten: () => undefined });
  expect((await queued()).alone.sort()).toEqual([first.id, second.id].sort());
});

test('those of one caller that come meanwhile are stored in one step and share a job', async () => {
  const texts = Array.from({ length: 40 }, () => shortText('alice'));
  const ids = texts.map(({ id }) => id);
  const records = createRecords(redis);
  let steps = 0;
  const counting: Records = { ...records, createMany: (all) => ((steps += 1), records.createMany(all)) };
  expect(await storeAtOnce(texts, counting)).toEqual({ begun: ids, ended: ids.map(() => 'written') });
  // The first comes alone, and the others gather meanwhile.
  expect(steps).toBe(3);
  expect(await queued()).toEqual({ groups: [ids.slice(1, 33), ids.slice(33)], alone: [ids[0]] });
  expect((await records.readMany(ids)).map((record) => record?.id)).toEqual(ids);
});

test('callers share nothing, nor do those who wait and those who do not', async () => {
  const texts = [
    ...[1, 2, 3].map(() => shortText('alice')),
    ...[1, 2, 3].map(() => shortText('bob')),
    ...[1, 2, 3].map(() => shortText('bob', { waitSeconds: 0 })),
  ];
  await storeAtOnce(texts);
  const ids = texts.map(({ id }) => id);
  const { groups, alone } = await queued();
  const [a, b, c] = [ids.slice(1, 3), ids.slice(4, 6), ids.slice(7, 9)];
  expect(groups.sort()).toEqual([a, b, c].sort());
  expect(alone.sort()).toEqual([ids[0], ids[3], ids[6]].sort());
});

test('one that cannot be written fails alone', async () => {
  const id = randomUUID();
  await createRecords(redis).create(makeDocument({ id }));
  const texts = [shortText('alice'), shortText('alice'), shortText('alice', { id }), shortText('alice')];
  const { begun, ended } = await storeAtOnce(texts);
  expect(ended).toEqual(['written', 'written', 'failed', 'written']);
  const written = [texts[0], texts[1], texts[3]].map((each) => each?.id);
  expect(begun).toEqual(written);
  expect(await queued()).toEqual({ groups: [written.slice(1)], alone: [written[0]] });
});

test('what was written although the reply was lost is acknowledged', async () => {
  const records = createRecords(redis);
  const losing: Records = {
    ...records,
    createMany: async (all) => {
      await records.createMany(all);
      return all.map(() => new Error('the connection is gone'));
    },
  };
  const texts = [shortText('alice'), shortText('alice'), shortText('alice')];
  const { ended } = await storeAtOnce(texts, losing);
  expect(ended).toEqual(['written', 'written', 'written']);
  expect((await queued()).groups).toEqual([texts.slice(1).map(({ id }) => id)]);
});

test('a step that breaks down ends the waits for it, and those that follow are stored', async () => {
  const records = createRecords(redis);
  let steps = 0;
  const broken: Records = {
    ...records,
    createMany: (all) => {
      steps += 1;
      return steps === 2 ? Promise.reject(new Error('cannot be prepared')) : records.createMany(all);
    },
  };
  const { ended } = await storeAtOnce(
    Array.from({ length: 40 }, () => shortText('alice')),
    broken,
  );
  const [rejected, stored] = [1, 33].map((from) => new Set(ended.slice(from, from === 1 ? 33 : 40)));
  expect([ended[0], rejected, stored]).toEqual(['written', new Set(['rejected']), new Set(['written'])]);
});
