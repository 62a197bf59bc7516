import { beforeEach, expect, test } from '@jest/globals';
import { nameMark, textHash } from '../../../../src/shared/chunks/fields.js';
import { generationId, type DocumentRecord } from '../../../../src/shared/document.js';
import type { PublishedText } from '../../../../src/shared/documents/commit/publish-group.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import { documentTags } from '../../../../src/shared/documents/record-fields.js';
import { publish, replaceContent } from '../../../../src/shared/documents/transitions.js';
import { countIngestingCallers, countUnfinishedIngestsOf } from '../../../../src/shared/documents/counts.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { isShortSource } from '../../../../src/shared/storage/sources.js';
import { embedded, sea } from '../../../support/chunk-world.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';
import { takeSnapshot } from '../../../support/snapshot.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
beforeEach(() => redis.flushAll());

async function created(): Promise<DocumentRecord> {
  const record = makeDocument();
  await records.create(record);
  return record;
}

/** A document of one chunk, as it is published. */
function textOf(before: DocumentRecord): PublishedText {
  const { id, version, attempt } = before;
  const change = publish(before, { documentId: id, version, attempt, chunkCount: 1, tokenCount: 5 });
  if (!change?.record) throw new Error('not to be published');
  const chunk = { text: 'by the sea', tokenCount: 5, overlap: 0, hash: textHash('by the sea'), like: null };
  const whole = {
    documentId: id,
    generation: generationId(before),
    chunks: [{ ...chunk, ...embedded(1) }],
    tags: '',
    named: nameMark(null),
    tokens: 5,
  };
  return { before, after: change.record, newTags: null, effects: change, whole };
}

const publishAll = (documents: readonly DocumentRecord[], owner: string | null = 'owner') =>
  records.publishGroup({
    documents: documents.map(textOf),
    userId: 'owner',
    owner,
    terms: {
      chunks: documents.length,
      length: 3 * documents.length,
      frequencies: new Map([[sea, documents.length]]),
    },
  });
const statusesOf = async (documents: readonly DocumentRecord[]) =>
  await Promise.all(documents.map(async ({ id }) => (await records.read(id))?.status));

test('texts that are published together wait no more, and the others of their caller do', async () => {
  const [first, second, third] = [await created(), await created(), await created()];
  expect(await publishAll([first, second])).toEqual([]);
  expect(await statusesOf([first, second, third])).toEqual(['completed', 'completed', 'queued']);
  expect(await countUnfinishedIngestsOf(redis, 'owner')).toBe(1);
  expect(await countIngestingCallers(redis)).toEqual({ callers: 1, most: 1 });
  expect(await publishAll([third])).toEqual([]);
  expect(await countIngestingCallers(redis)).toEqual({ callers: 0, most: 0 });
});

test('where one was changed since, or has chunks, nothing is published, and their places are told', async () => {
  const all = [await created(), await created(), await created()];
  const [first, second, third] = all;
  if (!first || !second || !third) throw new Error('three were created');
  await redis.hSet(keys.generation(generationId(third)), 'document', third.id);
  const earlier = { ...first, revision: first.revision - 1 };
  expect(await publishAll([earlier, second, third])).toEqual([0, 2]);
  expect(await statusesOf(all)).toEqual(['queued', 'queued', 'queued']);
  expect(await countUnfinishedIngestsOf(redis, 'owner')).toBe(3);
});

/** All that the commit of a record writes beside the parts of its generation. */
async function writtenOf(first: DocumentRecord) {
  const { id, ownerId } = first;
  const { revision, ...record } = await redis.hGetAll(keys.document(id));
  return {
    record,
    isLater: Number(revision) > 1,
    hidden: (await redis.sMembers(keys.hidden)).sort(),
    garbage: (await redis.sMembers(keys.garbage)).sort(),
    discarded: await redis.hGet(keys.generation(generationId(first)), 'discarded'),
    objects: await redis.zRange(keys.unreferencedObjects, 0, -1),
    unfinished: await redis.zRange(keys.unfinished, 0, -1),
    ingests: await redis.hGetAll(keys.ingests),
    callers: await redis.zRangeWithScores(keys.ingestsByCaller, 0, -1),
    owned: [await redis.hGetAll(keys.owned(ownerId)), await redis.hGetAll(keys.ownedTotals)],
    contents: await redis.zRange(keys.contentHashes(ownerId), 0, -1),
    usage: await redis.lRange(keys.usagePending('owner'), 0, -1),
    changes: await redis.zRangeWithScores(keys.changes, 0, -1),
  };
}

test.each([
  ['file', {}],
  ['record/short', {}],
  ['record/patched', { retag: 7 }],
])('one that takes the place of a %s leaves what its commit would', async (old, marked) => {
  const first = makeDocument({ pending: makeContent({ storageKey: old, sha256: 'old' }) });
  const source = { storageKey: old, bytes: Buffer.from('old') };
  await records.create(first, isShortSource(old) ? { source } : {});
  expect(await publishAll([first])).toEqual([]);
  const content = makeContent({ storageKey: 'record/new', sha256: 'new', sizeBytes: 9 });
  const { record: before } = await records.update(first.id, (each) => ({
    ...replaceContent({ ...each, ...marked }, { content, operation: makeOperation() }),
    source: { storageKey: content.storageKey, bytes: Buffer.from('new') },
  }));
  if (!before) throw new Error('not replaced');
  const text = textOf(before);
  const putBack = await takeSnapshot(redis);
  const change = { record: text.after, unhide: generationId(before), ...text.effects };
  expect((await records.update(first.id, () => change, before)).changed).toBe(true);
  const expected = await writtenOf(first);
  await putBack();
  const newTags = documentTags(text.after);
  const terms = { chunks: 1, length: 3, frequencies: new Map([[sea, 1]]) };
  const group = { documents: [{ ...text, newTags }], userId: 'owner', owner: 'owner', terms };
  expect(await records.publishGroup(group)).toEqual([]);
  expect(await writtenOf(first)).toEqual(expected);
  const unfinished = 'retag' in marked ? [first.id] : [];
  expect(expected).toMatchObject({ garbage: [generationId(first)], discarded: '1', unfinished });
});

test('their terms are counted for their owner, once for each chunk, and nothing where they are of nobody', async () => {
  expect(await publishAll([await created(), await created()])).toEqual([]);
  expect(await redis.hGetAll(keys.statistics('owner'))).toMatchObject({ chunks: '2', length: '6' });
  expect(await publishAll([await created(), await created()])).toEqual([]);
  expect(await redis.hGetAll(keys.statistics('owner'))).toMatchObject({ chunks: '4', length: '12' });
  expect(await publishAll([await created()], null)).toEqual([]);
  expect(await redis.exists(keys.statistics(null))).toBe(0);
});
