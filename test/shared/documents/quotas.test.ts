import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  mostWhileGrowing,
  overQuota,
  ownedWith,
  readOwnedTotals,
  requireChunks,
  requireQuotas,
  type Quotas,
} from '../../../src/shared/documents/counts.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import * as transitions from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
beforeEach(() => redis.flushAll());

const NONE: Quotas = { documents: null, bytes: null, chunks: null };
const recordsWith = (quotas: Partial<Quotas>) =>
  createRecords(redis, undefined, { quotas: { ...NONE, ...quotas } });
const ofBytes = (sizeBytes: number) => makeDocument({ pending: makeContent({ sizeBytes }) });

describe('what a document is counted with', () => {
  test('is the larger one of its two contents and the chunks of the one that is shown', () => {
    const [small, large] = [
      makeContent({ sizeBytes: 3, chunkCount: 4 }),
      makeContent({ sizeBytes: 9, chunkCount: 5 }),
    ];
    expect(ownedWith(makeDocument({ published: small, pending: large }))).toEqual({
      documents: 1,
      bytes: 9,
      chunks: 4,
    });
    expect(ownedWith(makeDocument({ published: large, pending: small }))).toEqual({
      documents: 1,
      bytes: 9,
      chunks: 5,
    });
    expect(ownedWith(makeDocument({ pending: small }))).toEqual({ documents: 1, bytes: 3, chunks: 0 });
  });
});

describe('a quota', () => {
  test('holds only for what grows, and a document that is begun needs a chunk that is free', () => {
    const [less, more] = [
      { documents: 0, bytes: 0, chunks: 0 },
      { documents: 1, bytes: 1, chunks: 1 },
    ];
    const quotas = { documents: 5, bytes: 6, chunks: 7 };
    expect(mostWhileGrowing(less, more, quotas)).toEqual([5, 6, 7]);
    expect(mostWhileGrowing(more, less, quotas)).toEqual([-1, -1, -1]);
    expect(mostWhileGrowing(more, more, quotas)).toEqual([-1, -1, -1]);
    expect(mostWhileGrowing(less, { ...more, chunks: 0 }, quotas)).toEqual([5, 6, 6]);
    expect(mostWhileGrowing(less, { ...more, chunks: 0 }, { ...quotas, chunks: 0 })).toEqual([5, 6, 0]);
    expect(mostWhileGrowing(less, more, NONE)).toEqual([-1, -1, -1]);
  });

  test('is named by the answer of a script, and no other answer is taken for one', () => {
    const quotas = { documents: 5, bytes: 6, chunks: 7 };
    const named = [-11, -12, -13].map((done) => overQuota(done, quotas));
    expect(named.map((each) => each?.quota)).toEqual(['documents', 'bytes', 'chunks']);
    expect(named.map((each) => each?.message.endsWith(': 5') ?? false)).toEqual([true, false, false]);
    for (const done of [1, 0, -1, -10, -14]) expect(overQuota(done, quotas)).toBeNull();
  });

  test('of documents or bytes is filled to its last and refuses what passes it, which is counted', async () => {
    const records = recordsWith({ documents: 2, bytes: 10 });
    await records.create(ofBytes(4));
    await expect(records.create(ofBytes(7))).rejects.toMatchObject({ kind: 'over_quota', quota: 'bytes' });
    await records.create(ofBytes(6));
    await expect(records.create(ofBytes(0))).rejects.toMatchObject({ quota: 'documents' });
    await records.create(makeDocument({ ownerId: 'other', pending: makeContent({ sizeBytes: 10 }) }));
    expect(await readOwnedTotals(redis)).toEqual({
      owned: { documents: 3, bytes: 20, chunks: 0 },
      refused: { documents: 1, bytes: 1, chunks: 0 },
    });
  });

  test('is filled by the first of several documents that come together', async () => {
    const records = recordsWith({ documents: 2 });
    const errors = await records.createMany([1, 2, 3].map((size) => ({ record: ofBytes(size) })));
    expect(errors.slice(0, 2)).toEqual([null, null]);
    expect(errors[2]).toMatchObject({ quota: 'documents' });
  });

  test('keeps nobody from taking something away where it was passed already', async () => {
    const document = ofBytes(50);
    await recordsWith({}).create(document);
    const strict = recordsWith({ documents: 1, bytes: 10, chunks: 1 });
    const replace = (sizeBytes: number) =>
      strict.update(document.id, (each) =>
        transitions.replaceContent(each, {
          content: makeContent({ sizeBytes, storageKey: `a/${String(sizeBytes)}` }),
          operation: makeOperation(),
        }),
      );
    expect((await replace(20)).changed).toBe(true);
    await expect(replace(21)).rejects.toMatchObject({ quota: 'bytes' });
    expect((await strict.update(document.id, transitions.remove)).changed).toBe(true);
  });

  test('of chunks refuses documents where none is free, and their publication where they have too many', async () => {
    const records = recordsWith({ chunks: 3 });
    const [first, second] = [ofBytes(1), ofBytes(2)];
    await records.create(first);
    await records.create(second);
    const publish = ({ id }: { id: string }, chunkCount: number) =>
      records.update(id, (each) =>
        transitions.publish(each, { documentId: id, version: 1, attempt: 1, chunkCount, tokenCount: 1 }),
      );
    expect((await publish(first, 3)).changed).toBe(true);
    await expect(publish(second, 1)).rejects.toMatchObject({ quota: 'chunks' });
    await expect(records.create(ofBytes(1))).rejects.toMatchObject({ quota: 'chunks' });
  });

  test('of chunks is asked for before they are embedded, and those that are replaced count no more', async () => {
    await redis.hSet(keys.owned('owner'), 'chunks', '8');
    const record = makeDocument({ published: makeContent({ chunkCount: 2 }) });
    const require = (chunks: number, most: number | null) =>
      requireChunks(redis, { record, chunks }, { ...NONE, chunks: most });
    await require(4, 10);
    await expect(require(5, 10)).rejects.toMatchObject({ code: 'too_large' });
    await require(5, null);
    await require(2, 3);
  });

  test('that is filled keeps documents of its owner from being begun', async () => {
    await redis.hSet(keys.owned('owner'), { documents: '2', bytes: '5' });
    await requireQuotas(redis, 'owner', NONE);
    await requireQuotas(redis, 'owner', { documents: 3, bytes: 6, chunks: 1 });
    await expect(requireQuotas(redis, 'owner', { ...NONE, documents: 2 })).rejects.toMatchObject({
      quota: 'documents',
    });
    await expect(requireQuotas(redis, 'owner', { ...NONE, bytes: 4 })).rejects.toMatchObject({
      quota: 'bytes',
    });
    await expect(requireQuotas(redis, 'owner', { ...NONE, chunks: 0 })).rejects.toMatchObject({
      quota: 'chunks',
    });
    await requireQuotas(redis, 'other', { ...NONE, documents: 2 });
  });
});
