import { expect, test } from '@jest/globals';
import { NOWHERE } from '../../src/shared/chunks/fields.js';
import { createReadDocuments } from '../../src/api/services/documents/read-documents.js';
import { createRetrieval } from '../../src/api/services/retrieval/retrieval.js';
import { createAnswerMemory } from '../../src/api/services/answer-memory/answer-memory.js';
import type { DocumentRecord } from '../../src/shared/document.js';
import { makeContent, makeDocument } from '../support/documents.js';
import { everythingShared, noCollections } from '../support/everything-shared.js';
import { noDetails } from '../support/no-details.js';

const MEGABYTE = 1024 ** 2;
const list = (letter: string) => Array.from({ length: 1_000 }, (_, i) => letter.repeat(120) + String(i));
const lists = { readers: ['slow', ...list('r')], writers: list('w'), admins: list('a') };

/** Forty documents with full access lists, and how many records were read in one step. */
function openDocuments(memory: ReturnType<typeof createAnswerMemory>) {
  const large = Array.from({ length: 40 }, () => makeDocument({ ...lists, metadata: {} }));
  const small = Array.from({ length: 40 }, () => makeDocument({ readers: ['other'], metadata: {} }));
  const byId = new Map([...large, ...small].map((record) => [record.id, record]));
  const steps: number[] = [];
  const read = (ids: readonly string[]) => ids.map((id) => byId.get(id) ?? null);
  const readSome = (ids: readonly string[], enoughBytes: number) => {
    const some: (DocumentRecord | null)[] = [];
    for (let bytes = 0; bytes < enoughBytes && some.length < ids.length;) {
      const [record] = read(ids.slice(some.length, some.length + 1));
      bytes += JSON.stringify(record).length;
      some.push(record ?? null);
    }
    steps.push(some.length);
    return Promise.resolve(some);
  };
  const never = () => Promise.reject(new Error('not asked for'));
  const readMany = (ids: readonly string[]) => Promise.resolve(read(ids));
  const records = {
    read: never,
    readState: never,
    readStates: never,
    findFinished: never,
    publishGroup: never,
    readGroup: never,
    createMany: never,
    readLineDigests: never,
    create: never,
    createBeside: never,
    inTurn: <Result>(_callerId: string, work: () => Promise<Result>) => work(),
    readEach: () => {
      throw new Error('not asked for');
    },
    update: never,
    readMany,
    readSome: never,
    readSomeFor: (_callerId: string, ids: readonly string[], { enoughBytes }: { enoughBytes: number }) =>
      readSome(ids, enoughBytes),
  };
  const documents = createReadDocuments({
    collections: noCollections,
    sharedViews: everythingShared,
    memory,
    records,
    chunks: { readTexts: never },
    index: {
      list: ({ principal: { id }, skip, limit }) =>
        Promise.resolve({
          ids: (id === 'slow' ? large : small).slice(skip, skip + limit).map(({ id }) => id),
          next: null,
        }),
      count: never,
    },
  });
  const open = async (callerId: string) => {
    const { signal } = new AbortController();
    const listing = { principal: { id: callerId }, filter: null, signal, skip: 0, limit: 100 };
    return (await documents.list(listing)).records[Symbol.asyncIterator]();
  };
  return { open, steps };
}

async function rest(iterator: AsyncIterator<DocumentRecord>): Promise<number> {
  let count = 0;
  for (let item = await iterator.next(); item.done !== true; item = await iterator.next()) count += 1;
  return count;
}

test('lists that nobody reads hold no more than their caller’s share, and others are answered', async () => {
  const memory = createAnswerMemory({ limitBytes: 64 * MEGABYTE, waitMilliseconds: 100 });
  const { open } = openDocuments(memory);
  const slow = await Promise.all(Array.from({ length: 24 }, () => open('slow')));
  const begun = Promise.allSettled(slow.map((iterator) => iterator.next()));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(memory.figures().held).toBeLessThanOrEqual(40 * MEGABYTE);
  expect(memory.figures().held).toBeGreaterThan(5 * MEGABYTE);
  const others = await Promise.all(Array.from({ length: 4 }, () => open('other')));
  expect(await Promise.all(others.map(rest))).toEqual([40, 40, 40, 40]);
  expect((await begun).filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(8);
  for (const iterator of slow) await iterator.return?.();
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('lists whose records do not fit all go on, one after the other, and none is broken', async () => {
  const memory = createAnswerMemory({ limitBytes: 16 * MEGABYTE, waitMilliseconds: 60_000 });
  const { open, steps } = openDocuments(memory);
  const slow = await Promise.all(Array.from({ length: 40 }, () => open('slow')));
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, memory.figures().held)), 1);
  expect(await Promise.all(slow.map(rest))).toEqual(slow.map(() => 40));
  clearInterval(watch);
  expect(peak).toBeLessThanOrEqual(10 * MEGABYTE);
  expect(Math.max(...steps)).toBe(1);
  // A record larger than the whole memory comes as well.
  const tiny = openDocuments(createAnswerMemory({ limitBytes: MEGABYTE, waitMilliseconds: 60_000 }));
  expect(await Promise.all([1, 2, 3].map(async () => rest(await tiny.open('slow'))))).toEqual([40, 40, 40]);
}, 60_000);

test('searches whose hits turn out large are searched again when there is room', async () => {
  const memory = createAnswerMemory({ limitBytes: 64 * MEGABYTE, waitMilliseconds: 60_000 });
  const record = makeDocument({ published: makeContent({ chunkCount: 1 }), pending: null });
  let searches = 0;
  let peak = 0;
  const retrieval = createRetrieval({
    collections: noCollections,
    memory,
    newestHits: () => Promise.resolve([]),
    rerankedSearch: null,
    details: noDetails,
    sharedViews: everythingShared,
    search: async ({ k, onHits }) => {
      searches += 1;
      const hits = [];
      for (let number = 0; number < k; number += 1) {
        hits.push({ record, number, content: 'x'.repeat(40_000), score: 1, ...NOWHERE });
        if (number % 10 === 9) {
          await Promise.resolve();
          onHits?.(hits);
        }
        peak = Math.max(peak, memory.figures().held);
      }
      return hits;
    },
    accounting: {
      begin: (_: unknown, work: () => Promise<unknown>) => work(),
      along: () => ({ isAppended: false }),
      list: (_: unknown, items: unknown) => items,
    } as never,
    records: {} as never,
    texts: {} as never,
    countTokens: () => 1,
    downloadUrl: () => null,
  });
  const request = {
    principal: { id: 'heavy' },
    baseUrl: '',
    startedAtMs: 0,
    signal: new AbortController().signal,
    query: 'x',
    filter: null,
    k: 100,
    minScore: 0,
    ranking: undefined,
    rerank: null,
  };
  const counts = Array.from({ length: 20 }, async () => {
    let count = 0;
    const { items } = await retrieval.chunks(request);
    for await (const each of items) count += each.content.length > 0 ? 1 : 0;
    return count;
  });
  expect(await Promise.all(counts)).toEqual(counts.map(() => 100));
  expect(peak).toBeLessThanOrEqual(40 * MEGABYTE);
  // Two begin at once, of which one begins again; then each comes when there is room.
  expect(searches).toBeLessThan(60);
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
}, 60_000);
