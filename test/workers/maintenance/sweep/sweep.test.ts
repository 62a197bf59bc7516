import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createSharedViews } from '../../../../src/shared/access/sharing.js';
import { createCacheStore } from '../../../../src/shared/caches/cache-store.js';
import { createCollectionStore } from '../../../../src/shared/collections/collection-store.js';
import { createChunks } from '../../../../src/shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../../../src/shared/document.js';
import { createRecords, type Records } from '../../../../src/shared/documents/records.js';
import { publish, startAttempt } from '../../../../src/shared/documents/transitions.js';
import { createWorkOffSet } from '../../../../src/workers/work-off-set.js';
import { jobIds } from '../../../../src/shared/queues/job-kinds.js';
import { keys, queueKeys } from '../../../../src/shared/redis/keys.js';
import { createMemoryWatch } from '../../../../src/shared/redis/memory.js';
import { createSweep } from '../../../../src/workers/maintenance/sweep/sweep.js';
import { makeContent, makeDocument } from '../../../support/documents.js';
import { useJobs } from '../../../support/use-jobs.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const jobs = useJobs({ url, redis });

const logger = pino({ level: 'silent' });
const metrics = { add: () => undefined, observe: () => undefined };

async function sweepWith(records: Records): Promise<void> {
  const chunks = createChunks(redis);
  const removeObjects = () => Promise.resolve({ removed: 0, kept: 0, failed: 0 });
  const sweep = createSweep({
    redis,
    jobs,
    records,
    chunks,
    removeObjects,
    logger,
    clean: () => Promise.resolve(),
    memory: createMemoryWatch(redis, 0.85),
    caches: createCacheStore(redis),
    collections: createCollectionStore(redis),
    sharedViews: createSharedViews(redis),
    cacheEngines: { kept: () => Promise.resolve([]), forget: () => Promise.resolve() },
    workOffSet: createWorkOffSet({ logger, metrics }),
    graceMs: 60_000,
  });
  await sweep();
}

test('a collection that was not used for as long as it says is removed, and no other', async () => {
  const collections = createCollectionStore(redis);
  const [day, now] = [86_400_000, Date.now()];
  const make = async (lastActiveAtMs: number): Promise<string> => {
    const lists = { readers: ['ann'], writers: ['ann'], admins: ['ann'] };
    const times = { createdAtMs: now - 3 * day, updatedAtMs: now - 3 * day, lastActiveAtMs };
    const id = randomUUID();
    const fields = { name: 'Herons', description: null, metadata: {}, filter: null };
    await collections.create({
      id,
      ownerId: 'ann',
      ...fields,
      ...lists,
      ...times,
      expiresAfterDays: 2,
      revision: 1,
    });
    return id;
  };
  const [unused, usedLately] = [await make(now - 2 * day), await make(now - day)];
  await sweepWith(createRecords(redis));
  expect(await collections.ownedBy('ann')).toEqual([usedLately]);
  expect(await redis.keys(`quire:*${unused}*`)).toEqual([]);
  await collections.remove(usedLately);
});

test('what is published while the sweeper looks around is not swept away', async () => {
  const records = createRecords(redis);
  const document = makeDocument();
  const fence = { documentId: document.id, version: 1, attempt: 1 };
  await records.create(document);
  await records.update(document.id, (each) => startAttempt(each, fence));

  // The sweeper has read which generations are hidden; before it reads their documents, this one is published.
  const publishing: Records = {
    ...records,
    read: async (id) => {
      const counts = { chunkCount: 1, tokenCount: 1 };
      await records.update(document.id, (each) => publish(each, { ...fence, ...counts }));
      return records.read(id);
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

test('so is that of an attempt of long ago, while the newest ones stay', async () => {
  const records = createRecords(redis);
  const document = makeDocument({ attempt: 9, status: 'processing' });
  await records.create(document);
  const of = (attempt: number) => generationId({ ...document, attempt });
  await redis.sAdd(keys.hidden, [of(2), of(8), of(9)]);
  await sweepWith(records);
  const swept = await redis.smIsMember(keys.garbage, [of(2), of(8), of(9)]);
  expect(swept.map(Boolean)).toEqual([true, false, false]);
});

/** Queued documents of one tenant, each with its job, and all long since touched: as after a large import. */
async function fillQueue(count: number): Promise<void> {
  const [{ id: _id, ...document }] = [makeDocument({ ownerId: 'heavy' })];
  const fields = Object.entries(document).flatMap(([name, value]) => [name, JSON.stringify(value)]);
  for (let first = 0; first < count; first += 5_000) {
    await redis.eval(
      `for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
        local id = 'many' .. i
        redis.call('HSET', ARGV[3] .. id, 'id', cjson.encode(id), unpack(ARGV, 6))
        redis.call('ZADD', KEYS[1], 1000 + i, id)
        redis.call('HSET', ARGV[4] .. id .. '-1-1', 'name', 'ingest', 'priority', i)
        redis.call('ZADD', ARGV[5], i * 4294967296, 'ingest-' .. id .. '-1-1')
      end`,
      {
        keys: [keys.unfinished],
        arguments: [
          String(first),
          String(Math.min(count, first + 5_000) - 1),
          keys.document(''),
          queueKeys.job('ingestion-quick', 'ingest-'),
          queueKeys.prioritizedJobs('ingestion-quick'),
          ...fields,
        ],
      },
    );
  }
}

test('a document of a group has a job while the one of its group waits, wherever that is', async () => {
  await redis.flushAll();
  const records = createRecords(redis);
  const store = async (name: string, changes: Partial<DocumentRecord> = {}) => {
    const record = makeDocument({ id: name, ...changes });
    await records.create(record, { group: name });
    await redis.zAdd(keys.unfinished, { value: name, score: 1_000 });
    return record;
  };
  const requestId = 'request';
  const [waiting] = [
    await store('waiting'),
    await store('lost'),
    await store('provider'),
    await store('over'),
  ];
  await jobs.addIngests([{ record: waiting, group: 'waiting' }], { requestId });
  await jobs.addEmbedGroup('ingest-group-provider', {
    documentIds: ['provider'],
    callerId: 'owner',
    requestId,
  });
  await jobs.addIngests([{ record: makeDocument({ id: 'over' }), group: 'over' }], { requestId });
  await redis.hSet(queueKeys.job('ingestion-groups', 'ingest-group-over'), 'finishedOn', '1');
  // A later attempt is not that of the group.
  const second = await store('second', { attempt: 2 });
  await jobs.addIngests([{ record: second, group: 'second' }], { requestId });
  await sweepWith(records);
  const attempts = async (id: string) => (await records.read(id))?.attempt;
  expect(await Promise.all(['waiting', 'provider', 'lost', 'over', 'second'].map(attempts))).toEqual([
    1, 1, 2, 2, 3,
  ]);
});

async function readsOfRedis(): Promise<number> {
  return Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
}

test('60,000 documents that wait are looked at in pages, and none of them is queued again', async () => {
  await redis.flushAll();
  const COUNT = 60_000;
  await fillQueue(COUNT);
  const lost = 'many41234';
  await redis.del(queueKeys.job('ingestion-quick', `ingest-${lost}-1-1`));
  await redis.zRem(queueKeys.prioritizedJobs('ingestion-quick'), `ingest-${lost}-1-1`);
  const began = Date.now();
  const reads = await readsOfRedis();
  // One sweep is bounded; together they look at all, the oldest first.
  for (let sweeps = 1; sweeps <= 3; sweeps += 1) {
    await sweepWith(createRecords(redis));
    expect(await redis.zCount(keys.unfinished, began, '+inf')).toBe(sweeps * 20_000);
  }
  // Reads from sockets, which cut large pipelines into several; a round trip for each document would be 60,000.
  expect((await readsOfRedis()) - reads).toBeLessThan(COUNT / 10);
  expect(await redis.zCard(queueKeys.prioritizedJobs('ingestion-quick'))).toBe(COUNT);
  expect(await redis.hGet(keys.document(lost), 'attempt')).toBe('2');
  expect(await redis.hGet(keys.document('many41233'), 'attempt')).toBe('1');
  // All were looked at a moment ago: there is nothing to do.
  const before = await readsOfRedis();
  await sweepWith(createRecords(redis));
  expect((await readsOfRedis()) - before).toBeLessThan(40);
}, 300_000);

test('a record that cannot be read is passed over, and stops none of the others', async () => {
  await redis.flushAll();
  await redis.hSet(keys.document('poison'), { id: '"poison"', status: 'no JSON' });
  await redis.zAdd(keys.unfinished, { value: 'poison', score: 1 });
  const records = createRecords(redis);
  const document = makeDocument();
  await records.create(document);
  await redis.zAdd(keys.unfinished, { value: document.id, score: 2 });
  await redis.set(keys.cache('owner', 'broken'), 'no hash');
  await redis.zAdd(keys.cachesBuilding, { value: keys.cache('owner', 'broken'), score: 1 });
  const stray = generationId(makeDocument());
  await redis.sAdd(keys.hidden, ['poison.1.1', stray]);
  await sweepWith(records);
  expect(await records.read(document.id)).toMatchObject({ attempt: 2 });
  expect(await redis.sMembers(keys.garbage)).toEqual([stray]);
});

test('documents and caches whose records are gone are not looked at for ever, nor counted for their caller', async () => {
  await redis.flushAll();
  const records = createRecords(redis);
  const [gone, there] = [makeDocument({ ownerId: 'bob' }), makeDocument({ ownerId: 'bob' })];
  for (const document of [gone, there]) {
    await records.create(document);
    await redis.zAdd(keys.unfinished, { value: document.id, score: 1 });
  }
  await redis.del(keys.document(gone.id));
  await redis.zAdd(keys.unfinished, { value: 'never was', score: 2 });
  await redis.zAdd(keys.cachesBuilding, { value: keys.cache('bob', 'gone'), score: 1 });
  await sweepWith(records);
  expect(await redis.zRange(keys.unfinished, 0, -1)).toEqual([there.id]);
  expect(await redis.hKeys(keys.ingests)).toEqual([there.id]);
  expect(await redis.zScore(keys.ingestsByCaller, 'bob')).toBe(1);
  expect(await redis.zCard(keys.cachesBuilding)).toBe(0);
});

test('what is cleaned already is not asked for again', async () => {
  await redis.flushAll();
  const [waiting, left] = [generationId(makeDocument()), generationId(makeDocument())];
  await redis.sAdd(keys.garbage, [waiting, left]);
  await jobs.addCleans([waiting], 'owner');
  await sweepWith(createRecords(redis));
  expect(await redis.zCard(queueKeys.prioritizedJobs('maintenance'))).toBe(2);
  await sweepWith(createRecords(redis));
  expect(await redis.zCard(queueKeys.prioritizedJobs('maintenance'))).toBe(2);
});

test('attachments that are left to remove and to make have jobs, one of each', async () => {
  const carried = { ids: ['a', 'b'], waiting: ['b'], missed: [], callerId: 'carl' };
  const published = makeContent({ kind: 'file', carried });
  const replacedAttachments = { removals: [{ id: 'c', callerId: 'owner' }], kept: [] };
  const done = { status: 'completed', pending: null, operation: null, published } as const;
  const mail = makeDocument({ ...done, replacedAttachments });
  const records = createRecords(redis);
  await records.create(mail);
  await redis.zAdd(keys.unfinished, { value: mail.id, score: 1 });
  const live = () =>
    jobs.areLive([
      { lane: 'maintenance', id: jobIds.removeReplaced(mail.id) },
      { lane: 'ingestion', id: jobIds.makeWaiting(mail.id) },
    ]);
  expect(await live()).toEqual([false, false]);
  await sweepWith(records);
  expect(await live()).toEqual([true, true]);
  // A job that is there already takes no more of its caller's turns.
  const turns = await redis.zRangeWithScores(keys.turns('ingestion'), 0, -1);
  expect(turns).toHaveLength(1);
  await redis.zAdd(keys.unfinished, { value: mail.id, score: 1 });
  await sweepWith(records);
  expect(await redis.zRangeWithScores(keys.turns('ingestion'), 0, -1)).toEqual(turns);
});
