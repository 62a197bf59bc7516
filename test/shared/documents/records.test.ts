import { beforeAll, describe, expect, test } from '@jest/globals';
import { generationId } from '../../../src/shared/document.js';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import * as transitions from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createUsage, type Usage } from '../../../src/shared/usage/usage.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
let records: Records;
let usage: Usage;

beforeAll(() => {
  records = createRecords(redis);
  usage = createUsage(redis);
});

const fenceOf = ({ id, version, attempt }: { id: string; version: number; attempt: number }) => ({
  documentId: id,
  version,
  attempt,
});

async function published(changes = {}) {
  const document = makeDocument(changes);
  await records.create(document);
  const fence = fenceOf(document);
  await records.update(document.id, (each) => transitions.startAttempt(each, fence));
  const counts = { chunkCount: 2, tokenCount: 30 };
  const { record } = await records.update(document.id, (each) =>
    transitions.publish(each, { ...fence, ...counts }),
  );
  if (!record) throw new Error('not published');
  return record;
}

describe('records', () => {
  test('are read for callers in turn, so that many of one keep nobody waiting', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const readFor = (callerId: string) =>
      records.inTurn(callerId, () => {
        begun.push(callerId);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const many = Array.from({ length: 100 }, () => readFor('many'));
    const one = readFor('one');
    await new Promise(setImmediate);
    // Others come in at once, beside those of the first.
    expect(begun.filter((each) => each === 'many').length).toBeLessThanOrEqual(8);
    expect(begun).toContain('one');
    for (let ended = 0; ended <= 100; ended += 1) {
      ends[ended]?.();
      await new Promise(setImmediate);
    }
    await Promise.all([...many, one]);
  });

  test('reads back what was created, unicode and empty lists included', async () => {
    const document = makeDocument({
      metadata: { ключ: ['ü', 1.5, null, { a: [] }], empty: {} },
      readers: ['日本'],
    });
    await records.create(document);
    expect(await records.read(document.id)).toEqual(document);
    expect(await records.read('11111111-1111-1111-1111-111111111111')).toBeNull();
  });

  test('creates many at once, each of them wholly or not at all, and reads their states', async () => {
    const documents = Array.from({ length: 100 }, (_, i) =>
      makeDocument({ readers: Array.from({ length: i % 3 === 0 ? 20 : 1 }, (_each, j) => `r${String(j)}`) }),
    );
    const [known] = documents;
    if (!known) throw new Error('no document');
    await records.create(known);
    const before = Number(await redis.get(keys.sequence));
    const errors = await records.createMany(documents.map((record) => ({ record })));
    expect(errors[0]).toMatchObject({ message: 'a document with this id exists' });
    expect(errors.slice(1)).toEqual(Array.from({ length: 99 }, () => null));
    expect(Number(await redis.get(keys.sequence)) - before).toBe(99);
    expect(await records.readMany(documents.map(({ id }) => id))).toEqual(documents);
    const ids = [...documents.map(({ id }) => id), '11111111-1111-1111-1111-111111111111'];
    const states = documents.map(({ status, retag }) => ({ status, retag }));
    expect(await records.readStates(ids)).toEqual([...states, null]);
    expect(await records.findFinished(ids)).toEqual([ids.at(-1)]);
  });

  test('reads as many at a time as have enough bytes, and at least one', async () => {
    const documents = Array.from({ length: 5 }, () =>
      makeDocument({ metadata: { long: 'x'.repeat(4_000) } }),
    );
    for (const document of documents) await records.create(document);
    const [first, second] = documents;
    const unknown = '11111111-1111-1111-1111-111111111111';
    const ids = [unknown, ...documents.map(({ id }) => id)];
    expect(await records.readSome(ids, 1)).toEqual([null, first]);
    expect(await records.readSome(ids, 6_000)).toEqual([null, first, second]);
    expect(await records.readSome(ids, 1_000_000)).toEqual([null, ...documents]);
    expect(await records.readSome([unknown], 1)).toEqual([null]);
    expect(await records.readSome([], 1)).toEqual([]);
    const lenient = createRecords(redis, undefined, { onMalformed: () => undefined });
    await redis.hSet(keys.document(documents[0]?.id ?? ''), 'version', 'x');
    expect(await lenient.readSome(ids.slice(1, 3), 1_000_000)).toEqual([null, second]);
    await expect(records.readSome(ids.slice(1), 1)).rejects.toThrow('cannot be read');
  });

  test('of any number are read in turns, some at a time', async () => {
    const documents = Array.from({ length: 6 }, () =>
      makeDocument({ readers: Array.from({ length: 1_000 }, (_, i) => String(i).padEnd(256, '\u{1f512}')) }),
    );
    for (const document of documents) await records.create(document);
    const unknown = '11111111-1111-1111-1111-111111111111';
    const ids = [unknown, ...documents.map(({ id }) => id)];
    const read: unknown[] = [];
    for await (const record of records.readEach(ids, 'many')) read.push(record);
    expect(read).toEqual([null, ...documents]);
    const sentBytes = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1]);
    const before = await sentBytes();
    // One that is not asked for further reads no more.
    for await (const record of records.readEach(ids.slice(1), 'many')) {
      expect(record).not.toBeNull();
      break;
    }
    expect((await sentBytes()) - before).toBeLessThan(3 * 1024 ** 2);
  });

  test('creating an id twice is refused', async () => {
    const document = makeDocument();
    await records.create(document);
    await expect(records.create(document)).rejects.toThrow();
  });

  test('thirty concurrent changes of one record all take effect', async () => {
    const document = makeDocument({ metadata: { n: 0 } });
    await records.create(document);
    await Promise.all(
      Array.from({ length: 30 }, () =>
        records.update(document.id, (each) =>
          transitions.patch(each, { metadata: { n: Number(each.metadata['n']) + 1 } }),
        ),
      ),
    );
    expect((await records.read(document.id))?.metadata).toEqual({ n: 30 });
  });

  test('every change enters the change log with a higher sequence', async () => {
    const document = makeDocument();
    await records.create(document);
    const before = Number(await redis.zScore(keys.changes, document.id));
    await records.update(document.id, (each) => transitions.patch(each, { metadata: { a: 1 } }));
    const after = Number(await redis.zScore(keys.changes, document.id));
    expect(after).toBeGreaterThan(before);
    expect(Number(await redis.get(keys.sequence))).toBeGreaterThanOrEqual(after);
  });

  test('publishing shows the new generation, hides the old one and counts the ingest once', async () => {
    const owner = 'publisher';
    const first = await published({ ownerId: owner });
    const old = generationId(first);
    expect(first).toMatchObject({
      status: 'completed',
      pending: null,
      published: { generation: old },
    });
    expect(old.startsWith(`${first.id}.1.1.`)).toBe(true);
    expect(await redis.sIsMember(keys.hidden, old)).toBe(0);

    const content = makeContent({ sha256: 'other', storageKey: 'a/2' });
    await records.update(first.id, (each) =>
      transitions.replaceContent(each, { content, operation: makeOperation({ userId: owner }) }),
    );
    const fence = { documentId: first.id, version: 2, attempt: 1 };
    const started = await records.update(first.id, (each) => transitions.startAttempt(each, fence));
    const next = generationId(started.record ?? first);
    expect(next.startsWith(`${first.id}.2.1.`)).toBe(true);
    expect(await redis.sIsMember(keys.hidden, next)).toBe(1);
    const publish = () =>
      records.update(first.id, (each) =>
        transitions.publish(each, { ...fence, chunkCount: 1, tokenCount: 5 }),
      );
    const results = await Promise.all([publish(), publish()]);
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(results.flatMap(({ discarded }) => discarded)).toEqual([old]);
    expect(await redis.sIsMember(keys.hidden, old)).toBe(1);
    expect(await redis.sIsMember(keys.garbage, old)).toBe(1);
    expect(await redis.zRange(keys.unreferencedObjects, 0, -1)).toContain('a/1');
    expect(await usage.stats(owner)).toEqual({ ingest_text: 2 });
  });

  test('a stale run changes nothing', async () => {
    const document = makeDocument();
    await records.create(document);
    const stale = fenceOf(document);
    await records.update(document.id, (each) => transitions.startAttempt(each, stale));
    await records.update(document.id, transitions.requeue);
    const before = await records.read(document.id);
    const failure = { code: 'corrupt', message: 'no', stage: 'parsing' } as const;
    for (const transition of [
      transitions.startAttempt(makeDocument({ ...before }), stale),
      transitions.publish(makeDocument({ ...before }), { ...stale, chunkCount: 1, tokenCount: 1 }),
      transitions.fail(makeDocument({ ...before }), { ...stale, failure }),
    ]) {
      expect(transition).toBeNull();
    }
    expect(before).toMatchObject({ attempt: 2, status: 'queued' });
  });

  test('what is prepared keeps its stage, unless its attempt begins anew', () => {
    const document = makeDocument({ status: 'processing', stage: 'embedding', progress: 0.5 });
    const fence = fenceOf(document);
    const prepared = transitions.prepare(document, { ...fence, chunkCount: 1 })?.record;
    if (!prepared) throw new Error('not prepared');
    const report = { ...fence, stage: 'embedding', progress: 0.9 };
    expect(transitions.reportProgress(prepared, report)).toBeNull();
    expect(transitions.reportProgress(document, report)?.record).toMatchObject({ progress: 0.9 });
    expect(transitions.startAttempt(prepared, fence)?.record).toMatchObject({ prepared: null });
  });

  test('the progress of an attempt never goes back, whatever is told late', () => {
    const document = makeDocument({ status: 'processing', stage: 'embedding', progress: 0.5 });
    const report = (stage: string, progress: number) =>
      transitions.reportProgress(document, { ...fenceOf(document), stage, progress })?.record;
    expect(report('parsing', 0.4)).toBeUndefined();
    expect(report('parsing', 0.5)).toBeUndefined();
    expect(report('embedding', 0.4)).toBeUndefined();
    expect(report('embedding', 0.5)).toBeUndefined();
    expect(report('embedding', 0.6)).toMatchObject({ stage: 'embedding', progress: 0.6 });
  });

  test('a deleted document is gone, its generations are garbage, and late runs find nothing', async () => {
    const document = await published();
    const { discarded } = await records.update(document.id, transitions.remove);
    expect(discarded).toEqual([generationId(document)]);
    expect(await records.read(document.id)).toBeNull();
    const late = await records.update(document.id, transitions.requeue);
    expect(late).toEqual({ record: null, changed: false, discarded: [] });
    expect(await redis.zScore(keys.tombstones, document.id)).not.toBeNull();
  });

  test.each([
    [
      'superseded',
      (each: Parameters<typeof transitions.cancel>[0]) =>
        transitions.replaceContent(each, {
          content: makeContent(),
          operation: makeOperation({ userId: 'other' }),
        }),
    ],
    ['cancelled', transitions.cancel],
    ['deleted', transitions.remove],
  ])('an ingest that is %s leaves one error with that code', async (code, transition) => {
    const userId = `user-${code}`;
    const document = makeDocument({ operation: makeOperation({ userId }) });
    await records.create(document);
    await records.update(document.id, transition);
    const events = await usage.recent(userId, { limit: 10 });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ status: 'error', metadata: { error: code } });
    expect(await usage.stats(userId)).toEqual({});
  });

  test('retry is a new operation and raises the attempt; retrying what is completed changes nothing', async () => {
    const document = makeDocument();
    await records.create(document);
    const failure = { code: 'timeout', message: 'too slow', stage: 'parsing' } as const;
    await records.update(document.id, (each) => transitions.fail(each, { ...fenceOf(document), failure }));
    expect(await records.read(document.id)).toMatchObject({ status: 'failed', error: failure });
    const { record } = await records.update(document.id, (each) => transitions.retry(each, makeOperation()));
    expect(record).toMatchObject({ status: 'queued', attempt: 2, error: null });
    const done = await published();
    expect(transitions.retry(done, makeOperation())).toBeNull();
    expect(transitions.cancel(done)).toBeNull();
  });

  test('only unfinished records are for the sweeper', async () => {
    const document = makeDocument();
    await records.create(document);
    expect(await redis.zScore(keys.unfinished, document.id)).not.toBeNull();
    const done = await published();
    expect(await redis.zScore(keys.unfinished, done.id)).toBeNull();
    await records.update(done.id, (each) => transitions.patch(each, { metadata: { a: 1 } }));
    expect(await redis.zScore(keys.unfinished, done.id)).not.toBeNull();
    await records.update(done.id, (each) => transitions.finishRetag(each, each.retag));
    expect(await redis.zScore(keys.unfinished, done.id)).toBeNull();
  });
});

test('a document whose owner is no well-formed text is published, counted and deleted like any other', async () => {
  const owner = 'half \ud800: %3A';
  const document = makeDocument({
    ownerId: owner,
    readers: [owner],
    operation: makeOperation({ userId: owner }),
  });
  await records.create(document);
  const fence = { ...fenceOf(document), chunkCount: 1, tokenCount: 3 };
  const published = await records.update(document.id, (each) => transitions.publish(each, fence));
  expect(published).toMatchObject({ changed: true, record: { ownerId: owner } });
  expect(await records.read(document.id)).toMatchObject({ ownerId: owner, readers: [owner] });
  expect(Object.keys(await usage.stats(owner))).toHaveLength(1);
  expect(await usage.stats('half \ud801: %3A')).toEqual({});
  expect((await records.update(document.id, transitions.remove)).changed).toBe(true);
});
