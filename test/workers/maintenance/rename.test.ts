import { beforeEach, expect, test } from '@jest/globals';
import { createExactIndex } from '../../../src/shared/adapters/exact-index/exact-index.js';
import { createChunks, type Chunks } from '../../../src/shared/chunks/chunks.js';
import { nameMark } from '../../../src/shared/chunks/fields.js';
import { searchedTerms } from '../../../src/shared/chunks/searched-text.js';
import { generationId } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { patch, publish, startAttempt } from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { updateTermCounts } from '../../../src/workers/ingestion/update-term-counts.js';
import { marksOf, shownWhenPublished } from '../../../src/workers/ingestion/write-tags.js';
import { createRetagJob } from '../../../src/workers/maintenance/retag-job.js';
import { makeContent, makeDocument } from '../../support/documents.js';
import { statisticsDifferences } from '../../support/recount-statistics.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const chunks = createChunks(redis);
const statistics = createTermStatistics(redis);

beforeEach(async () => {
  await redis.flushAll();
});

/** More than one batch, the second of which is not full. */
const COUNT = 70;
const texts = Array.from({ length: COUNT }, (_, n) => `Chunk ${String(n)} speaks of otters.`);

async function publishNamed(filename: string | null) {
  const document = makeDocument({ pending: makeContent({ filename }) });
  await records.create(document);
  const fence = { documentId: document.id, version: 1, attempt: 1 };
  const { record } = await records.update(document.id, (each) => startAttempt(each, fence));
  if (!record) throw new Error('no record');
  const generation = generationId(record);
  const marks = marksOf(shownWhenPublished(record));
  const pieces = texts.map((text, n) => ({ text, tokenCount: 5, overlap: 0, hash: String(n), like: null }));
  for (const [batch, first] of [0, 64].entries()) {
    const some = pieces.slice(first, first + 64);
    const text = { documentId: document.id, generation, first, chunks: some, ...marks };
    await chunks.writeTexts(text, record.revision);
    const rows = some.map((piece, i) => ({
      number: first + i,
      vector: Float32Array.of(1, 0, 0, 0),
      terms: searchedTerms(piece, { title: null, filename }),
    }));
    await chunks.writeEmbedded(generation, { batch, chunks: rows, owner: 'owner', named: marks.named });
  }
  await chunks.close(generation, { chunks: COUNT, tokens: 5 * COUNT });
  await records.update(document.id, (each) =>
    publish(each, { ...fence, chunkCount: COUNT, tokenCount: 5 * COUNT }),
  );
  for (const batch of [0, 1])
    await updateTermCounts({ records, statistics }, { documentId: document.id, generation, batch }, () =>
      chunks.readTerms(generation, batch === 0 ? [...Array(64).keys()] : [64, 65, 66, 67, 68, 69]),
    );
  return { id: document.id, generation };
}

async function rename(id: string, filename: string | null, more: Parameters<typeof patch>[1] = {}) {
  const { record } = await records.update(id, (each) => patch(each, { ...more, filename }));
  return record?.retag ?? 0;
}

const retagWith = (some: Chunks) => createRetagJob({ records, chunks: some, statistics });
const fieldsOf = (generation: string, field: string) =>
  Promise.all(texts.map((_, n) => redis.hGet(keys.chunk(generation, n), field)));

async function expectNamed(generation: string, filename: string | null): Promise<void> {
  const held = await chunks.readTerms(generation, [...texts.keys()]);
  const expected = texts.map((text) => searchedTerms({ text, tokenCount: 5 }, { title: null, filename }));
  expect(held.map(({ terms }) => Buffer.from(terms).toString('hex'))).toEqual(
    expected.map((terms) => Buffer.from(terms).toString('hex')),
  );
  expect(new Set(held.map(({ named }) => named))).toEqual(new Set([nameMark(filename)]));
  expect(await statisticsDifferences(redis)).toEqual([]);
}

test.each([
  ['zebra_budget.txt', 'giraffe_plan.txt'],
  [null, 'zebra_budget.txt'],
  ['zebra_budget.txt', null],
  ['otters.txt', 'otters_again.txt'],
])(
  'a document renamed from %s to %s is found by its new name alone, and keeps texts and vectors',
  async (before, after) => {
    const { id, generation } = await publishNamed(before);
    await expectNamed(generation, before);
    const [content, vectors] = [await fieldsOf(generation, 'content'), await fieldsOf(generation, 'vector')];
    const mark = await rename(id, after);
    expect(await retagWith(chunks)({ documentId: id, mark })).toBe('done');
    await expectNamed(generation, after);
    expect((await records.read(id))?.retag).toBe(0);
    expect(await fieldsOf(generation, 'content')).toEqual(content);
    expect(await fieldsOf(generation, 'vector')).toEqual(vectors);
  },
);

test('names and access that change at the same time leave right counts, whichever job comes first', async () => {
  const { id, generation } = await publishNamed('zebra.txt');
  const lists = (readers: string[]) => ({ readers, writers: ['eve'], admins: ['eve'] });
  const marks = [
    await rename(id, 'lion.txt', lists(['eve'])),
    await rename(id, 'tiger.txt', lists(['owner'])),
    await rename(id, 'bear.txt', lists(['eve'])),
  ];
  await Promise.all(marks.map((mark) => retagWith(chunks)({ documentId: id, mark })));
  const last = await rename(id, 'wolf.txt', lists(['owner', 'eve']));
  await Promise.all([1, 2].map(() => retagWith(chunks)({ documentId: id, mark: last })));
  await expectNamed(generation, 'wolf.txt');
});

test('a job that dies after some chunks is continued by the next', async () => {
  const { id, generation } = await publishNamed('zebra.txt');
  const mark = await rename(id, 'lion.txt');
  let batches = 0;
  const dying: Chunks = {
    ...chunks,
    writeTags: async (...given) => {
      if ((batches += 1) > 1) throw new Error('died');
      return chunks.writeTags(...given);
    },
  };
  await expect(retagWith(dying)({ documentId: id, mark })).rejects.toThrow('died');
  expect(await retagWith(chunks)({ documentId: id, mark })).toBe('done');
  await expectNamed(generation, 'lion.txt');
});

test('terms of an old name are not written after the file was renamed', async () => {
  const { id, generation } = await publishNamed('zebra.txt');
  await retagWith(chunks)({ documentId: id, mark: await rename(id, 'lion.txt') });
  const late = [{ number: 64, vector: Float32Array.of(1, 0, 0, 0), terms: new Uint8Array(0) }];
  await expect(
    chunks.writeEmbedded(generation, {
      batch: 1,
      chunks: late,
      owner: 'owner',
      named: nameMark('zebra.txt'),
    }),
  ).rejects.toThrow('renamed');
  await expectNamed(generation, 'lion.txt');
});

test('the index in memory finds a renamed document by its new name', async () => {
  const { id } = await publishNamed('zebra.txt');
  const index = await createExactIndex({ redisUrl: url, held: 'stored' });
  try {
    await until(async () => (await index.state()) === 'ready');
    const found = async (query: string) => {
      const request = { principal: { id: 'owner' }, query, filter: null, limit: 3, minScore: 0.1 };
      return (await index.words.search(request)).length;
    };
    expect([await found('zebra'), await found('lion')]).toEqual([3, 0]);
    await retagWith(chunks)({ documentId: id, mark: await rename(id, 'lion.txt') });
    await until(async () => (await found('lion')) === 3);
    expect(await found('zebra')).toBe(0);
  } finally {
    await index.close();
  }
});
