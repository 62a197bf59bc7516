import { beforeEach, expect, test } from '@jest/globals';
import { createChunks } from '../../../../src/shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../../../src/shared/document.js';
import { documentTags } from '../../../../src/shared/documents/record-fields.js';
import { NO_QUOTAS, readOwnedTotals, TOO_MANY_CHUNKS } from '../../../../src/shared/documents/counts.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import {
  fail,
  patch,
  remove,
  replaceContent,
  requeue,
  retry,
  startAttempt,
} from '../../../../src/shared/documents/transitions.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { createTermStatistics } from '../../../../src/shared/term-statistics/term-statistics.js';
import { createCleanJob } from '../../../../src/workers/maintenance/clean-job.js';
import { createRetagJob } from '../../../../src/workers/maintenance/retag-job.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';
import { dying, ProcessDied } from '../../../support/dying.js';
import { useLongIngest } from '../../../support/long-ingest.js';
import { isAtRest } from '../../../support/recount-statistics.js';
import { shortContent, textGroups } from '../../../support/text-groups.js';
import { useJobs } from '../../../support/use-jobs.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const { store, ingestAlone, expectPublished } = textGroups({ redis, jobs: useJobs({ url, redis }) });
const ingestLong = useLongIngest({ url, redis });
const records = createRecords(redis);
const chunks = createChunks(redis);
const TEXT = 'the otter swims';
let document: DocumentRecord;

beforeEach(async () => {
  await redis.flushAll();
  document = await storeOne(TEXT);
});

/** Puts a short text in the place of the content of a document, as the API does. */
async function replaceBy(text: string, known = document): Promise<DocumentRecord> {
  const { source, content } = shortContent({ documentId: known.id, version: known.version + 1 }, text);
  const operation = makeOperation();
  const replaced = await records.update(known.id, (each) => ({
    ...replaceContent(each, { content, operation }),
    source,
  }));
  if (!replaced.record) throw new Error('the document is gone');
  return replaced.record;
}

/** Removes all that is discarded. */
async function cleanAll(): Promise<void> {
  const clean = createCleanJob({ chunks, statistics: createTermStatistics(redis) });
  for (const generation of await redis.sMembers(keys.garbage)) await clean(generation);
}

async function storeOne(text: string): Promise<DocumentRecord> {
  const [stored] = await store([text]);
  if (!stored) throw new Error('nothing stored');
  return stored;
}

const published = { count: 1, published: 1, others: [] };
const leftTo = ({ id }: DocumentRecord) => ({ count: 1, published: 0, others: [id] });
const fence = { version: 1, attempt: 1 };
const chunkOf = (field: string) => redis.hGet(keys.chunk(generationId(document), 0), field);
const ownersChunks = () => redis.hGet(keys.statistics(document.ownerId), 'chunks');

test('a short text is published with its chunks, vectors and term statistics', async () => {
  expect(await ingestAlone(document)).toEqual(published);
  expect(await records.read(document.id)).toMatchObject({
    status: 'completed',
    pending: null,
    published: { generation: generationId(document), chunkCount: 1, tokenCount: expect.any(Number) },
  });
  const [vector] = await chunks.readVectors([{ generation: generationId(document), number: 0 }]);
  expect(vector).toHaveLength(1024);
  expect(await chunkOf('content')).toBe(TEXT);
  expect(await ownersChunks()).toBe('1');
  expect(await redis.sMembers(keys.hidden)).toEqual([]);
  expect(await redis.zRange(keys.unfinished, 0, -1)).toEqual([]);
});

test('one at a full quota of chunks takes the way of files, and ends as too large, as a retry does', async () => {
  const limited = createRecords(redis, undefined, { quotas: { ...NO_QUOTAS, chunks: 1 } });
  expect(await ingestAlone(document)).toEqual(published);
  const second = await storeOne('the heron waits');
  expect(await ingestAlone(second, { records: limited })).toEqual(leftTo(second));
  const failed = { status: 'failed', error: { code: 'too_large', message: TOO_MANY_CHUNKS } };
  const ingest = async (record: DocumentRecord) => {
    const { embed } = await ingestLong(record, ['the heron waits'], { records: limited });
    await embed();
    expect(await limited.read(second.id)).toMatchObject(failed);
  };
  await ingest(second);
  const { record } = await limited.update(second.id, (each) => retry(each, makeOperation()));
  if (!record) throw new Error('the document is gone');
  expect(await ingestAlone(record, { records: limited })).toEqual(leftTo(second));
  await ingest(record);
});

test('new content of no more chunks is published where the quota of chunks is passed already', async () => {
  const limited = createRecords(redis, undefined, { quotas: { ...NO_QUOTAS, chunks: 1 } });
  for (const each of [document, await storeOne('the heron waits')])
    expect(await ingestAlone(each)).toEqual(published);
  expect(await ingestAlone(await replaceBy('the kite circles'), { records: limited })).toEqual(published);
  expect((await readOwnedTotals(redis)).refused).toMatchObject({ chunks: 0 });
});

test('new content takes the place of other content, whose source and chunks are removed', async () => {
  expect(await ingestAlone(document)).toEqual(published);
  const texts = ['the heron waits', 'the kite circles'];
  for (const text of texts) expect(await ingestAlone(await replaceBy(text, document))).toEqual(published);
  const record = await records.read(document.id);
  expect(record).toMatchObject({ version: 3, published: { version: 3, chunkCount: 1 } });
  const sources = Object.keys(await redis.hGetAll(keys.document(document.id)));
  expect(sources.filter((name) => name.startsWith('record/'))).toEqual([record?.published?.storageKey]);
  expect(await redis.sCard(keys.garbage)).toBe(2);
  await cleanAll();
  await expectPublished([document], texts.slice(1));
  expect(await redis.keys(`${keys.chunkPrefix}*`)).toHaveLength(1);
  expect(await redis.hmGet(keys.owned(document.ownerId), ['documents', 'chunks'])).toEqual(['1', '1']);
  expect(await isAtRest(redis)).toBe(true);
});

test('new content in place of a file has the object of the file removed', async () => {
  const file = makeDocument({ pending: makeContent({ storageKey: 'a/file', kind: 'file' }) });
  await records.create(file);
  const { embed } = await ingestLong(file, [TEXT]);
  expect(await embed()).toBe('published');
  expect(await ingestAlone(await replaceBy('the heron waits', file))).toEqual(published);
  expect(await redis.zRange(keys.unreferencedObjects, 0, -1)).toEqual(['a/file']);
});

test('a later attempt has what earlier ones wrote removed, and the job of an earlier one changes nothing', async () => {
  const file = { ...fence, documentId: document.id };
  await records.update(document.id, (each) => startAttempt(each, file));
  const { record } = await records.update(document.id, requeue);
  if (!record) throw new Error('the document is gone');
  expect(await ingestAlone(document)).toEqual({ count: 1, published: 0, others: [] });
  expect(await ingestAlone(record)).toEqual(published);
  expect(await redis.sMembers(keys.garbage)).toEqual([generationId(document)]);
  await cleanAll();
  await expectPublished([document], [TEXT]);
  expect(await isAtRest(redis)).toBe(true);
});

test('one whose mail has attachments takes the way of files', async () => {
  const mail = makeDocument({ attachments: ['attached'] });
  await records.create(mail);
  expect(await ingestAlone(await replaceBy('the heron waits', mail))).toEqual(leftTo(mail));
  expect(await records.read(mail.id)).toMatchObject({ status: 'queued', version: 2 });
});

test.each(['new content', 'the only content'])(
  '%s is published with the tags of a patch whose work is not done, and that goes on',
  async (content) => {
    const isNew = content === 'new content';
    if (isNew) expect(await ingestAlone(document)).toEqual(published);
    const change = { metadata: { colour: 'red' }, readers: ['eve'], admins: ['eve'], filename: 'herons.txt' };
    const { record } = await records.update(document.id, (each) => patch(each, change));
    if (!record) throw new Error('the document is gone');
    const text = isNew ? 'the heron waits' : TEXT;
    expect(await ingestAlone(isNew ? await replaceBy(text) : record)).toEqual(published);
    expect(await redis.zRange(keys.unfinished, 0, -1)).toEqual([document.id]);
    const retag = createRetagJob({ records, chunks, statistics: createTermStatistics(redis) });
    expect(await retag({ documentId: document.id, mark: record.retag })).toBe('done');
    await cleanAll();
    await expectPublished([document], [text]);
    const { metadata, readers } = change;
    expect(await records.read(document.id)).toMatchObject({ metadata, readers, retag: 0 });
    expect(await isAtRest(redis)).toBe(true);
  },
);

test('one that was patched meanwhile is published with the tags of the patch', async () => {
  const meanwhile = () => records.update(document.id, (each) => patch(each, { metadata: { colour: 'red' } }));
  expect(await ingestAlone(document, { meanwhile })).toEqual(leftTo(document));
  const { embed } = await ingestLong(document, [TEXT]);
  expect(await embed()).toBe('published');
  const record = await records.read(document.id);
  expect(record).toMatchObject({ status: 'completed', metadata: { colour: 'red' } });
  expect(record && documentTags(record)).toBe(await chunkOf('tags'));
});

test('one that was deleted meanwhile leaves nothing', async () => {
  const meanwhile = () => records.update(document.id, remove);
  expect(await ingestAlone(document, { meanwhile })).toMatchObject({ published: 0 });
  expect(await records.read(document.id)).toBeNull();
  expect(await chunkOf('content')).toBeNull();
  expect(await ownersChunks()).toBeNull();
});

test('a run beside its twin counts nothing twice', async () => {
  const meanwhile = () => ingestAlone(document);
  expect(await ingestAlone(document, { meanwhile })).toMatchObject({ published: 0 });
  expect(await records.read(document.id)).toMatchObject({
    status: 'completed',
    published: { chunkCount: 1 },
  });
  expect(await ownersChunks()).toBe('1');
});

test('a run that dies before it publishes leaves nothing, and the next one does its work', async () => {
  await ingestAlone(await storeOne('a text by which the server knows the scripts'));
  const others = Number(await ownersChunks());
  let steps = 0;
  // The first run dies after it has read the text, the second one before it publishes.
  const seen = dying(redis, () => [1, 3].includes((steps += 1)));
  for (let run = 0; run < 2; run += 1)
    await expect(ingestAlone(document, { seen })).rejects.toThrow(ProcessDied);
  expect(await records.read(document.id)).toMatchObject({ status: 'queued', published: null });
  expect(await chunkOf('content')).toBeNull();
  expect(Number(await ownersChunks())).toBe(others);
  expect(await ingestAlone(document)).toEqual(published);
  expect(Number(await ownersChunks())).toBe(others + 1);
  expect(await redis.sMembers(keys.hidden)).toEqual([]);
});

test('a text that yields no chunk takes the way of files, which fails it with its code', async () => {
  const empty = await storeOne(' ');
  expect(await ingestAlone(empty)).toEqual(leftTo(empty));
  expect(await records.read(empty.id)).toMatchObject({ status: 'queued' });
});

test('files, texts of many chunks and those begun the way of files are left to it', async () => {
  const file = makeDocument();
  await records.create(file);
  const many = await storeOne('The otter swims in the lake. '.repeat(280));
  for (const each of [file, many]) expect(await ingestAlone(each, { chunkSize: 64 })).toEqual(leftTo(each));
  const { id: documentId } = document;
  const meanwhile = () => records.update(documentId, (each) => startAttempt(each, { documentId, ...fence }));
  expect(await ingestAlone(document, { meanwhile })).toEqual(leftTo(document));
  expect(await ingestAlone(document)).toMatchObject({ published: 0 });
  expect(await records.read(documentId)).toMatchObject({ status: 'processing' });
});

test('one that is tried again after it has failed is published', async () => {
  const { id: documentId } = document;
  const failure = { code: 'internal', message: 'a fault', stage: 'parsing' } as const;
  await records.update(documentId, (each) => fail(each, { documentId, ...fence, failure }));
  const { record } = await records.update(documentId, (each) => retry(each, makeOperation()));
  expect(await ingestAlone(document)).toMatchObject({ published: 0 });
  expect(record && (await ingestAlone(record))).toEqual(published);
  expect(await records.read(documentId)).toMatchObject({ status: 'completed', attempt: 2, error: null });
});
