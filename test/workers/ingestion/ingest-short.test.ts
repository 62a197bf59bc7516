import { beforeEach, expect, test } from '@jest/globals';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import { documentTags } from '../../../src/shared/documents/record-fields.js';
import { NO_QUOTAS, TOO_MANY_CHUNKS } from '../../../src/shared/documents/counts.js';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import { fail, patch, remove, retry, startAttempt } from '../../../src/shared/documents/transitions.js';
import { IngestError } from '../../../src/shared/errors.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';
import { useShortIngest } from '../../support/short-ingest.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const ingestShort = useShortIngest({ url, redis });
let records = createRecords(redis);
const chunks = createChunks(redis);
let document: DocumentRecord;

beforeEach(async () => {
  await redis.flushAll();
  document = makeDocument();
  await records.create(document);
});

const piece = { text: 'the otter swims', tokenCount: 4, overlap: 0 };

/** Ingests the document as it was read before `meanwhile`, which happens while the worker makes vectors of it. */
const ingest = (meanwhile: () => Promise<unknown> = () => Promise.resolve(), pieces = [piece]) =>
  ingestShort(
    document,
    async () => {
      await meanwhile();
      return pieces;
    },
    { records },
  );

const chunkOf = (field: string) => redis.hGet(keys.chunk(generationId(document), 0), field);
const ownersChunks = () => redis.hGet(keys.statistics(document.ownerId), 'chunks');

test('a short text is published with its chunks, vectors and term statistics', async () => {
  expect(await ingest()).toBe('published');
  expect(await records.read(document.id)).toMatchObject({
    status: 'completed',
    pending: null,
    published: { generation: generationId(document), chunkCount: 1, tokenCount: 4 },
  });
  const [vector] = await chunks.readVectors([{ generation: generationId(document), number: 0 }]);
  expect(vector).toHaveLength(1024);
  expect(await chunkOf('content')).toBe(piece.text);
  expect(await ownersChunks()).toBe('1');
  expect(await redis.sMembers(keys.hidden)).toEqual([]);
  expect(await redis.zRange(keys.unfinished, 0, -1)).toEqual([]);
});

test('a retry at a full quota of chunks ends as too large', async () => {
  const limited = createRecords(redis, undefined, { quotas: { ...NO_QUOTAS, chunks: 1 } });
  const second = makeDocument();
  await records.create(second);
  const failure = { code: 'internal', message: 'a fault', stage: 'parsing' } as const;
  const fence = { documentId: second.id, version: 1, attempt: 1 };
  await records.update(second.id, (each) => fail(each, { ...fence, failure }));
  expect(await ingest()).toBe('published');
  const { record } = await limited.update(second.id, (each) => retry(each, makeOperation()));
  if (!record) throw new Error('the document is gone');
  await ingestShort(record, () => Promise.resolve([piece]), { records: limited });
  expect(await limited.read(second.id)).toMatchObject({
    status: 'failed',
    error: { code: 'too_large', message: TOO_MANY_CHUNKS },
  });
});

test('one that was patched meanwhile is published with the tags of the patch', async () => {
  await ingest(() => records.update(document.id, (each) => patch(each, { metadata: { colour: 'red' } })));
  const published = await records.read(document.id);
  expect(published).toMatchObject({ status: 'completed', metadata: { colour: 'red' } });
  expect(published && documentTags(published)).toBe(await chunkOf('tags'));
});

test('one that was deleted meanwhile leaves nothing', async () => {
  expect(await ingest(() => records.update(document.id, remove))).toBe('stale');
  expect(await records.read(document.id)).toBeNull();
  expect(await chunkOf('content')).toBeNull();
  expect(await ownersChunks()).toBeNull();
});

test('a run beside its twin counts nothing twice', async () => {
  expect(await ingest(ingest)).toBe('stale');
  expect(await records.read(document.id)).toMatchObject({
    status: 'completed',
    published: { chunkCount: 1 },
  });
  expect(await ownersChunks()).toBe('1');
});

test('a run that dies before it publishes leaves nothing, and the next one does its work', async () => {
  const dying: Records['update'] = () => Promise.reject(new Error('the process died'));
  const living = records;
  records = { ...living, update: dying };
  await expect(ingest()).rejects.toThrow('the process died');
  records = living;
  expect(await records.read(document.id)).toMatchObject({ status: 'queued', published: null });
  expect(await chunkOf('content')).toBeNull();
  expect(await ownersChunks()).toBeNull();
  expect(await ingest()).toBe('published');
  expect(await ownersChunks()).toBe('1');
  expect(await redis.sMembers(keys.hidden)).toEqual([]);
});

test('a text that yields no chunk fails with its code', async () => {
  const refuse = () => Promise.reject(new IngestError('empty_document', 'The document is empty.'));
  expect(await ingest(refuse)).toBe('failed');
  expect(await records.read(document.id)).toMatchObject({
    status: 'failed',
    error: { code: 'empty_document', stage: 'parsing' },
  });
});

test('files, long texts, texts of many chunks and those begun the long way are left to it', async () => {
  const { id: documentId } = document;
  const contents = [makeContent({ kind: 'file' }), makeContent({ sizeBytes: 100_000 })];
  for (const pending of contents) {
    document = makeDocument({ pending });
    expect(await ingest()).toBeNull();
  }
  const many = Array.from({ length: 65 }, () => piece);
  expect(await ingest(undefined, many)).toBeNull();
  const fence = { documentId, version: 1, attempt: 1 };
  document = makeDocument({ id: documentId });
  expect(await ingest(() => records.update(documentId, (each) => startAttempt(each, fence)))).toBeNull();
  expect(await records.read(documentId)).toMatchObject({ status: 'processing' });
});
