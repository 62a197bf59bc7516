import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createAnswerMemory } from '../../../../src/api/services/answer-memory/answer-memory.js';
import { createCacheSelection } from '../../../../src/api/services/caches/cache-selection.js';
import { createCommitChange } from '../../../../src/api/services/documents/commit-change.js';
import { readDocument } from '../../../../src/api/services/documents/document-access.js';
import { createReadDocuments } from '../../../../src/api/services/documents/read-documents.js';
import { createDuplicates } from '../../../../src/api/services/ingest/duplicates.js';
import { createWaitForDocument, type ChangeWaiter } from '../../../../src/api/services/ingest/waits.js';
import { readFoundDocuments } from '../../../../src/api/services/retrieval/found-documents.js';
import { currentMembers } from '../../../../src/shared/caches/passages.js';
import type { DocumentRecord } from '../../../../src/shared/document.js';
import { createRecords, type Records } from '../../../../src/shared/documents/records.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { createReadHits } from '../../../../src/shared/search/read-hits.js';
import { createCheckCandidates } from '../../../../src/shared/search/search.js';
import { makeContent, makeDocument } from '../../../support/documents.js';
import { everythingShared, noCollections } from '../../../support/everything-shared.js';
import { rejection } from '../../../support/rejection.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
afterEach(() => redis.flushAll());

const principal = { id: 'many' };
const { signal } = new AbortController();
const none = () => Promise.resolve();
const notAsked = () => Promise.reject(new Error('not asked for'));
/** Reads as a wait does at its end. */
const waiter: ChangeWaiter = {
  listen: () => () => undefined,
  stopping: signal,
  waitFor: ({ read }) => read(),
  close: () => undefined,
};

/** More than the hits of a page have that are read without a turn. */
const LARGE = Array.from({ length: 1_000 }, (_, i) => String(i).padEnd(256, 'x'));

async function storeDocument(records: Records, others: readonly string[] = LARGE): Promise<DocumentRecord> {
  const published = makeContent({ generation: 'one.1.1.a' });
  const lists = { readers: ['many', ...others], writers: ['many', ...others] };
  const document = makeDocument({ ownerId: 'many', ...lists, status: 'completed', pending: null, published });
  await records.create(document);
  return document;
}

/** Whatever reads or changes documents in the name of a caller. */
function asksOf(records: Records, document: DocumentRecord): readonly Promise<unknown>[] {
  const { id: documentId, published } = document;
  if (!published) throw new Error('not published');
  const logger = pino({ level: 'silent' });
  const jobs = {
    ingest: none,
    ingestAll: none,
    forgetIngest: none,
    attachments: none,
    retag: none,
    clean: none,
  };
  const request = { documentId, principal };
  const sharedViews = {
    filterOf: everythingShared.filterOf,
    predicateOf: () => Promise.resolve(() => true),
  };
  const documents = createReadDocuments({
    records,
    chunks: { readTexts: notAsked },
    index: { list: () => Promise.resolve({ ids: [documentId], next: null }), count: notAsked },
    memory: createAnswerMemory({ limitBytes: 1024 ** 2 }),
    sharedViews,
    collections: noCollections,
  });
  const listAll = async () => {
    const listed = await documents.list({ principal, filter: null, skip: 0, limit: 1, signal });
    for await (const record of listed.records) expect(record.id).toBe(documentId);
  };
  const findAll = async () => {
    const parts = { records, texts: { open: () => Promise.resolve(null) }, downloadUrl: () => null };
    const found = readFoundDocuments(parts, [{ id: documentId, published, chunkNumber: 0, score: 1 }], {
      principal,
      baseUrl: '',
      filter: null,
    });
    expect(await found.next()).toMatchObject({ done: true });
  };
  const selection = createCacheSelection({
    records,
    index: { list: notAsked },
    sharedViews,
    collections: noCollections,
    chunk: { size: 512, overlap: 0 },
  });
  const check = createCheckCandidates(createReadHits(redis, undefined, records.inTurn), {
    principal,
    filter: null,
  });
  const wait = createWaitForDocument({ records, waiter, logger, waitSeconds: 1 });
  const reader = { ownerId: 'many', findUsable: () => Promise.resolve(() => true) };
  return [
    readDocument(records, request, 'read'),
    createCommitChange(records, jobs)({ ...request, right: 'write' }, () => null),
    listAll(),
    findAll(),
    check([{ documentId, generation: 'one.1.1.a', number: 0, score: 1 }]),
    createDuplicates(redis, records).find('many', published.sha256),
    wait(document, () => false, { callerId: 'many', waitSeconds: 1, signal }),
    selection.select(principal, { docs: [documentId], maxTokens: 10, shared: 'all' }),
    currentMembers(records, { ...reader, documentIds: [documentId] }),
  ];
}

test('whoever reads or changes many documents at once has their turns one after the other, beside those of others', async () => {
  const records = createRecords(redis);
  const document = await storeDocument(records);
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held = Array.from({ length: 100 }, () => records.inTurn('many', () => ended));
  let done = 0;
  const asked = asksOf(records, document).map((each) =>
    each.then(() => {
      done += 1;
    }),
  );
  // Another command of the same connection has come back: without turns, the others had, too.
  for (let times = 0; times < 5; times += 1) await redis.ping();
  expect(done).toBe(0);
  end();
  await Promise.all([...held, ...asked]);
  expect(done).toBe(asked.length);
});

test('hits of small documents need no turn', async () => {
  const records = createRecords(redis);
  const { id: documentId } = await storeDocument(records, []);
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held = Array.from({ length: 100 }, () => records.inTurn('many', () => ended));
  await redis.hSet(keys.chunk('one.1.1.a', 0), { content: 'text' });
  const check = createCheckCandidates(createReadHits(redis, undefined, records.inTurn), {
    principal,
    filter: null,
  });
  const candidate = { documentId, generation: 'one.1.1.a', number: 0, score: 1 };
  expect(await check([candidate])).toMatchObject([{ content: 'text' }]);
  end();
  await Promise.all(held);
});

test('whoever has left while a document was to be read waits for no turn any more', async () => {
  const records = createRecords(redis);
  const { id: documentId } = await storeDocument(records);
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held = Array.from({ length: 100 }, () => records.inTurn('many', () => ended));
  const leaving = new AbortController();
  const reading = rejection(readDocument(records, { documentId, principal, signal: leaving.signal }, 'read'));
  leaving.abort(new Error('gone'));
  expect(await reading).toMatchObject({ message: 'gone' });
  end();
  await Promise.all(held);
});

test('waits hold large records up to a bound for each caller, and those beyond it end at once', async () => {
  const records = createRecords(redis);
  const stored = await storeDocument(records);
  const ids = Array.from({ length: 1_000 }, (_, i) => String(i).padEnd(256, '\u{1f512}'));
  const document = { ...stored, readers: ids, writers: ids, admins: ids };
  const ends: (() => void)[] = [];
  const never: ChangeWaiter = {
    ...waiter,
    waitFor: ({ read }) => new Promise<void>((resolve) => ends.push(resolve)).then(read),
  };
  const logger = pino({ level: 'silent' });
  const wait = createWaitForDocument({ records, waiter: never, logger, waitSeconds: 60 });
  const waitAs = (callerId: string) => wait(document, () => false, { callerId, waitSeconds: 60, signal });
  const waiting = Array.from({ length: 100 }, () => waitAs('many'));
  expect(ends.length).toBeGreaterThan(5);
  expect(ends.length).toBeLessThan(30);
  expect(await waiting.at(-1)).toBe(document);
  const before = ends.length;
  waiting.push(waitAs('one'));
  expect(ends).toHaveLength(before + 1);
  for (const end of ends) end();
  await Promise.all(waiting);
  waiting.push(waitAs('many'));
  expect(ends).toHaveLength(before + 2);
  ends.at(-1)?.();
  await Promise.all(waiting);
});
