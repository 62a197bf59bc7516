import { beforeEach, describe, expect, test } from '@jest/globals';
import { generationId, type DocumentRecord } from '../../../../src/shared/document.js';
import type { Effects } from '../../../../src/shared/documents/change.js';
import { SameContentError } from '../../../../src/shared/documents/content-hashes.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import { wasDeleted } from '../../../../src/shared/documents/tombstones.js';
import {
  countIngestingCallers,
  countUnfinishedIngests,
  countUnfinishedIngestsOf,
  readUnfinishedIngests,
} from '../../../../src/shared/documents/counts.js';
import * as transitions from '../../../../src/shared/documents/transitions.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { UnderWayError } from '../../../../src/shared/idempotency/reservation.js';
import { keys, toMember } from '../../../../src/shared/redis/keys.js';
import { shortSourceKey } from '../../../../src/shared/storage/sources.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
beforeEach(() => redis.flushAll());

const fenceOf = ({ id, version, attempt }: DocumentRecord) => ({ documentId: id, version, attempt });
async function created(changes: Partial<DocumentRecord> = {}, effects: Effects = {}) {
  const record = makeDocument(changes);
  await records.create(record, effects);
  return record;
}
const publish = (record: DocumentRecord) =>
  records.update(record.id, (each) =>
    transitions.publish(each, { ...fenceOf(record), chunkCount: 1, tokenCount: 1 }),
  );

describe('a generation', () => {
  test('is hidden from the moment when chunks may be written into it until it is published', async () => {
    const record = await created();
    const generation = generationId(record);
    await records.update(record.id, (each) => transitions.startAttempt(each, fenceOf(record)));
    expect(await redis.hGet(keys.generation(generation), 'document')).toBe(record.id);
    expect(await redis.sIsMember(keys.hidden, generation)).toBe(1);
    await publish(record);
    expect(await redis.sIsMember(keys.hidden, generation)).toBe(0);
  });

  test('that is discarded is hidden garbage, into which nothing is written any more, and none is made by that', async () => {
    const record = await created();
    const generation = generationId(record);
    await records.update(record.id, (each) => transitions.startAttempt(each, fenceOf(record)));
    await records.update(record.id, (each) => transitions.cancel(each));
    expect(await redis.hGet(keys.generation(generation), 'discarded')).toBe('1');
    expect(await redis.sIsMember(keys.garbage, generation)).toBe(1);
    const never = await created();
    await records.update(never.id, (each) => transitions.cancel(each));
    expect(await redis.exists(keys.generation(generationId(never)))).toBe(0);
    expect(await redis.sIsMember(keys.garbage, generationId(never))).toBe(1);
  });

  test('is not published where searches use other vectors by then, or where it lacks what must be there', async () => {
    const record = await created();
    await redis.hSet(keys.schema, 'vectorField', 'newer');
    await expect(publish(record)).rejects.toBeInstanceOf(UnavailableError);
    expect((await records.read(record.id))?.status).toBe('queued');
    await redis.hSet(keys.schema, 'vectorField', 'vector');
    const expected = [{ generation: 'g', field: 'chunks', value: '3' }];
    const change = (each: DocumentRecord) => ({ record: { ...each, metadata: { a: 1 } }, expected });
    await expect(records.update(record.id, change)).rejects.toBeInstanceOf(UnavailableError);
    expect((await records.read(record.id))?.metadata).toEqual({});
    await redis.hSet(keys.generation('g'), 'chunks', '3');
    expect((await records.update(record.id, change)).changed).toBe(true);
  });
});

describe('sources', () => {
  test('that nothing refers to any more are noted for their removal, and those that are referred to are no drafts', async () => {
    await redis.zAdd(keys.draftObjects, [
      { score: 1, value: 's/1' },
      { score: 1, value: 's/other' },
    ]);
    const record = await created({ pending: makeContent({ storageKey: 's/1' }) });
    expect(await redis.zRange(keys.draftObjects, 0, -1)).toEqual(['s/other']);
    expect(await redis.exists(keys.unreferencedObjects)).toBe(0);
    const before = Date.now() - 1_000;
    await records.update(record.id, transitions.remove);
    const [gone] = await redis.zRangeWithScores(keys.unreferencedObjects, 0, -1);
    expect(gone?.value).toBe('s/1');
    expect(gone?.score).toBeGreaterThan(before);
    expect(gone?.score).toBeLessThan(Date.now() + 1_000);
  });

  test('that are short are in the record until other content takes their place', async () => {
    const id = makeDocument().id;
    const source = { storageKey: shortSourceKey({ documentId: id, version: 1 }), bytes: Buffer.from('text') };
    await created({ id, pending: makeContent({ storageKey: source.storageKey }) }, { source });
    expect(await redis.hGet(keys.document(id), source.storageKey)).toBe('text');
    const content = makeContent({ storageKey: 's/2' });
    await records.update(id, (each) =>
      transitions.replaceContent(each, { content, operation: makeOperation() }),
    );
    expect(await redis.hGet(keys.document(id), source.storageKey)).toBeNull();
    expect(await redis.exists(keys.unreferencedObjects)).toBe(0);
  });
});

describe('a new document', () => {
  test('is refused for a content that its owner has, only where that was asked for', async () => {
    const pending = makeContent({ sha256: 'same' });
    await created({ pending });
    await expect(created({ pending }, { onlyNewContent: true })).rejects.toBeInstanceOf(SameContentError);
    await created({ pending, ownerId: 'other' }, { onlyNewContent: true });
    await created({ pending });
    await created({ pending: makeContent({ sha256: 'samee' }) }, { onlyNewContent: true });
    expect(await redis.zCard(keys.contentHashes('owner'))).toBe(3);
  });

  test('is found by its content no more once that is replaced or it is removed', async () => {
    const record = await created({ pending: makeContent({ sha256: 'one' }) });
    const content = makeContent({ sha256: 'two' });
    await records.update(record.id, (each) =>
      transitions.replaceContent(each, { content, operation: makeOperation() }),
    );
    expect(await redis.zRange(keys.contentHashes('owner'), 0, -1)).toEqual([`two:${record.id}`]);
    await records.update(record.id, transitions.remove);
    expect(await redis.exists(keys.contentHashes('owner'))).toBe(0);
  });

  test('beside another is made only while that is as it was read', async () => {
    const other = await created();
    const beside = makeDocument();
    await records.update(other.id, (each) => transitions.patch(each, { metadata: { a: 1 } }));
    expect(await records.createBeside(beside, other)).toBe(false);
    expect(await records.read(beside.id)).toBeNull();
    const now = await records.read(other.id);
    if (!now) throw new Error('no document');
    expect(await records.createBeside(beside, now)).toBe(true);
    expect(await records.createBeside(beside, now)).toBe(false);
  });

  test('keeps the group that ingests it and the line that it was made of, which no record is read with', async () => {
    const record = await created({}, { group: 'g', lineDigest: 'digest' });
    const plain = await created();
    expect([await records.readGroup(record.id), await records.readGroup(plain.id)]).toEqual(['g', null]);
    expect(await records.readLineDigests([record.id, plain.id])).toEqual(['digest', null]);
    expect(await records.read(record.id)).toEqual(record);
  });

  const reservation = (run: string) => ({
    id: 'id',
    key: 'quire:reservation',
    run,
    fingerprint: () => 'print',
    hasCreated: false,
  });

  test('is made only by the run that holds its reservation, which notes what was made of it', async () => {
    await redis.hSet('quire:reservation', 'run', 'mine');
    await expect(created({}, { reservation: reservation('other') })).rejects.toBeInstanceOf(UnderWayError);
    expect(await redis.hGet('quire:reservation', 'created')).toBeNull();
    await created({}, { reservation: reservation('mine') });
    expect({ ...(await redis.hGetAll('quire:reservation')) }).toEqual({
      run: 'mine',
      created: '1',
      fingerprint: 'print',
    });
  });

  test('that was deleted does not come back by the same key, and comes back without one', async () => {
    await redis.hSet('quire:reservation', 'run', 'mine');
    const record = await created();
    await records.update(record.id, transitions.remove);
    expect(await wasDeleted(redis, record.id)).toBe(true);
    expect(await wasDeleted(redis, 'other')).toBe(false);
    await expect(records.create(record, { reservation: reservation('mine') })).rejects.toMatchObject({
      kind: 'not_found',
    });
    await records.create(record);
    expect(await records.read(record.id)).not.toBeNull();
  });
});

describe('who waits for ingests', () => {
  test('is counted in the step that changes a record, until none of theirs is left', async () => {
    const by = (userId: string) => ({ operation: makeOperation({ userId }) });
    const [first, second] = [await created(by('ann')), await created(by('ann'))];
    await created(by('bob'));
    expect(await countUnfinishedIngests(redis)).toBe(3);
    expect([
      await countUnfinishedIngestsOf(redis, 'ann'),
      await countUnfinishedIngestsOf(redis, 'eve'),
    ]).toEqual([2, 0]);
    expect(await countIngestingCallers(redis)).toEqual({ callers: 2, most: 2 });
    expect(await readUnfinishedIngests(redis, ['bob', 'eve', 'ann'], [first.id, 'none'])).toEqual({
      all: 3,
      own: [1, 0, 2],
      countedOf: [toMember('ann'), null],
    });
    await publish(first);
    await publish(first);
    expect(await countUnfinishedIngestsOf(redis, 'ann')).toBe(1);
    await records.update(second.id, transitions.remove);
    expect(await countIngestingCallers(redis)).toEqual({ callers: 1, most: 1 });
    expect(await redis.zScore(keys.ingestsByCaller, toMember('ann'))).toBeNull();
    expect(await countUnfinishedIngests(redis)).toBe(1);
  });

  test('is who replaced the content, from then on', async () => {
    const record = await created({ operation: makeOperation({ userId: 'ann' }) });
    const operation = makeOperation({ userId: 'bob' });
    await records.update(record.id, (each) =>
      transitions.replaceContent(each, { content: makeContent(), operation }),
    );
    expect(await readUnfinishedIngests(redis, ['ann', 'bob'], [record.id])).toMatchObject({
      all: 1,
      own: [0, 1],
      countedOf: [toMember('bob')],
    });
  });

  test('counts nobody where nothing is ingested', async () => {
    expect(await countIngestingCallers(redis)).toEqual({ callers: 0, most: 0 });
  });

  test('hears of the end of an ingest, of a re-tagging and of a removal, and of nothing else', async () => {
    const heard: string[] = [];
    const listener = redis.duplicate();
    await listener.connect();
    await listener.subscribe(keys.changed, (id) => heard.push(id));
    const record = await created();
    await records.update(record.id, (each) => transitions.startAttempt(each, fenceOf(record)));
    await publish(record);
    const { record: patched } = await records.update(record.id, (each) =>
      transitions.patch(each, { metadata: { a: 1 } }),
    );
    await records.update(record.id, (each) => transitions.finishRetag(each, patched?.retag ?? 0));
    await records.update(record.id, transitions.remove);
    await redis.publish(keys.changed, 'last');
    while (heard.at(-1) !== 'last') await new Promise((resolve) => setTimeout(resolve, 5));
    listener.destroy();
    expect(heard).toEqual([record.id, record.id, record.id, record.id, 'last']);
  });
});
