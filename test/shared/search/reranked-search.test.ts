import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createExactIndex } from '../../../src/shared/adapters/exact-index/exact-index.js';
import { RerankError } from '../../../src/shared/errors.js';
import { createReranking } from '../../../src/shared/models/reranking.js';
import type { Index, Reranker } from '../../../src/shared/ports.js';
import { createLexicalRanker } from '../../../src/shared/search/ranking.js';
import { createReadHits } from '../../../src/shared/search/read-hits.js';
import type { SearchRequest } from '../../../src/shared/search/request.js';
import { createRerankedSearch, type RerankWish } from '../../../src/shared/search/reranked-search.js';
import { parsed } from '../../contracts/index-data.js';
import { relevanceIn } from '../../support/fake-reranker.js';
import { openSearchWorld, type SearchWorld } from '../../support/search-world.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url } = useTestRedis();
let world: SearchWorld;
let index: Index;
beforeAll(async () => {
  world = await openSearchWorld(url);
  index = await createExactIndex({ redisUrl: url, held: 'of-terms' });
  while ((await index.state()) !== 'ready') await sleep(10);
});
afterEach(() => world.clear());
afterAll(async () => {
  await index.close();
  world.close();
});

/** Reranks by the relevance that texts name. */
function setUp({ candidates = 5, deadlineMilliseconds = 2_000 } = {}) {
  const asked: (readonly string[])[] = [];
  const provider = {
    onRequest: (_documents: readonly string[]): Promise<void> => Promise.resolve(),
    isDown: false,
  };
  const reranker: Reranker = {
    model: 'fake',
    limits: { documents: 100 },
    rerank: async (_, documents) => {
      asked.push(documents);
      await provider.onRequest(documents);
      if (provider.isDown) throw new RerankError('unavailable');
      return { scores: documents.map(relevanceIn), tokens: 2 };
    },
  };
  const search = createRerankedSearch({
    search: world.createSearch(index, createLexicalRanker()),
    reranking: createReranking(reranker, {
      candidates,
      deadlineMilliseconds,
      onOutcome: () => undefined,
      onFailure: () => undefined,
    }),
    readHits: createReadHits(world.redis),
  });
  const find = async (more: Partial<SearchRequest & RerankWish> = {}) => {
    const { topN = null, ...request } = more;
    const found = await search.search({
      principal: { id: 'ann' },
      query: 'heron',
      filter: null,
      k: 3,
      minScore: 0,
      per: 'chunk',
      rerank: { topN },
      ...request,
    });
    return {
      ...found,
      documents: found.hits.map(({ record }) => record.id),
      texts: found.hits.map(({ content }) => content),
      scores: found.hits.map(({ score }) => score),
    };
  };
  return { asked, provider, find, search };
}

async function add(texts: readonly string[], readers: readonly string[] = ['ann']): Promise<string> {
  const lists = { readers: [...readers], writers: [...readers], admins: [...readers] };
  const id = await world.create({ ownerId: readers[0] ?? 'ann', ...lists });
  await world.publish(id, texts);
  return id;
}

/** A text that is found by its words as well as its number is low. */
const text = (heron: number, relevance: number) =>
  `heron ${'filler '.repeat(3 * heron)}number${String(heron)} relevance ${String(relevance)}`;

test('the best of the candidates by their new scores come first, and no more than are asked for', async () => {
  for (const [i, relevance] of [0.1, 0.7, 0.3, 0.9, 0.5, 1].entries()) await add([text(i, relevance)]);
  const { find, asked } = setUp({ candidates: 5 });
  const found = await find();
  // The sixth in the first order was no candidate.
  expect(found.scores).toEqual([0.9, 0.7, 0.5]);
  expect(found.texts.map(relevanceIn)).toEqual([0.9, 0.7, 0.5]);
  expect(found.report).toEqual({ outcome: 'applied', tokens: 2 });
  expect(asked.map(({ length }) => length)).toEqual([5]);
  expect((await find({ topN: 2 })).scores).toEqual([0.9, 0.7]);
  expect((await find({ topN: 9 })).scores).toHaveLength(3);
  // More than the setting are candidates where more are asked for.
  expect((await find({ k: 6 })).scores).toEqual([1, 0.9, 0.7, 0.5, 0.3, 0.1]);
});

test('the least score is held against the new score alone', async () => {
  await add(['a crane, nothing else. relevance 0.8']);
  await add([text(0, 0.2)]);
  const { find, provider, asked } = setUp();
  expect((await find({ minScore: 0.5 })).scores).toEqual([0.8]);
  expect(asked[0]).toHaveLength(2);
  expect((await find({ minScore: 0.9 })).scores).toEqual([]);
  // Without new scores it is held against the first.
  provider.isDown = true;
  const first = await find({ minScore: 0.3 });
  expect(first.texts.map(relevanceIn)).toEqual([0.2]);
  expect(first.scores[0]).toBeGreaterThan(0.3);
  expect(first.report).toEqual({ outcome: 'unavailable', tokens: 0 });
  // Now the provider is given a rest.
  expect(await find({ minScore: 0.3 })).toMatchObject({
    scores: first.scores,
    report: { outcome: 'paused', tokens: 0 },
  });
  expect(asked).toHaveLength(3);
});

test('equal scores are ordered by document, then chunk number', async () => {
  const ids = [];
  for (let i = 0; i < 3; i += 1) ids.push(await add([text(3 - i, 0.5), text(9, 0.5)]));
  const { find } = setUp({ candidates: 10 });
  const { hits } = await find({ k: 10 });
  expect(hits.map(({ record, number }) => [record.id, number])).toEqual(
    [...ids].sort().flatMap((id) => [0, 1].map((number) => [id, number])),
  );
});

test('a document scores what the best of its chunks among the candidates does', async () => {
  const low = await add([text(0, 0.2), text(1, 0.6)]);
  const high = await add([text(2, 0.9), text(3, 0.1)]);
  const { find } = setUp({ candidates: 4 });
  const found = await find({ per: 'document', k: 2 });
  expect([found.documents, found.scores]).toEqual([
    [high, low],
    [0.9, 0.6],
  ]);
  expect((await find({ per: 'document', k: 2, topN: 1 })).documents).toEqual([high]);
});

test('as many documents come back as are asked for, where one has all the candidates', async () => {
  const long = await add(Array.from({ length: 12 }, (_, i) => text(0, 0.3 + i / 100)));
  const others = [await add([text(9, 0.9)]), await add([text(10, 0.1)])];
  const { find, asked } = setUp({ candidates: 5 });
  const found = await find({ per: 'document', k: 3 });
  expect(found.documents).toEqual([others[0], long, others[1]]);
  expect(asked).toHaveLength(1);
  expect(new Set(asked[0]).size).toBe(asked[0]?.length);
  expect(asked[0]).toHaveLength(7);
});

test('no text goes to the provider that the caller may not read', async () => {
  await add([text(0, 0.9)], ['bob']);
  await add([text(1, 0.4)]);
  const hidden = await add([text(2, 0.8)]);
  await world.patch(hidden, { readers: ['bob'], writers: ['bob'], admins: ['bob'] }, false);
  const { find, asked } = setUp();
  expect((await find()).scores).toEqual([0.4]);
  expect(asked).toEqual([[text(1, 0.4)]]);
});

test('what is closed, deleted or filtered out while the provider answers is left out, and the next best come instead', async () => {
  const ids = [];
  for (const relevance of [0.9, 0.8, 0.7, 0.6, 0.5]) ids.push(await add([text(0, relevance)]));
  const [closed = '', deleted = '', recoloured = ''] = ids;
  await world.patch(recoloured, { metadata: { colour: 'red' } });
  const { find, provider, asked } = setUp({ candidates: 10 });
  provider.onRequest = async () => {
    provider.onRequest = () => Promise.resolve();
    await world.patch(closed, { readers: ['bob'], writers: ['bob'], admins: ['bob'] }, false);
    await world.remove(deleted, false);
    await world.patch(recoloured, { metadata: { colour: 'blue' } }, false);
  };
  const found = await find({ k: 2, filter: parsed({ colour: { $ne: 'blue' } }) });
  expect(found.scores).toEqual([0.6, 0.5]);
  // They were hits when the provider got them.
  expect(asked.map(({ length }) => length)).toEqual([5]);
});

test('what is replaced while the provider answers is found with its new text', async () => {
  const id = await add([text(0, 0.9)]);
  await add([text(1, 0.5)]);
  const { find, provider, asked } = setUp();
  provider.onRequest = async () => {
    provider.onRequest = () => Promise.resolve();
    await world.replace(id, [text(0, 0.7)]);
  };
  const found = await find();
  expect([found.documents[0], found.scores]).toEqual([id, [0.7, 0.5]]);
  expect(asked).toHaveLength(2);
});

test('a deadline that is missed gives the first order, with records as they are by then', async () => {
  const closed = await add([text(0, 0.1)]);
  const open = [await add([text(1, 0.2)]), await add([text(2, 0.9)])];
  const { find, provider } = setUp({ deadlineMilliseconds: 300 });
  provider.onRequest = async () => {
    await world.patch(closed, { readers: ['bob'], writers: ['bob'], admins: ['bob'] }, false);
    await new Promise(() => undefined);
  };
  const found = await find();
  expect(found.report).toEqual({ outcome: 'timeout', tokens: 0 });
  expect(found.documents).toEqual(open);
  const documents = await find({ per: 'document' });
  expect([documents.documents, documents.report.outcome]).toEqual([open, 'paused']);
});

test('nothing is asked about nothing', async () => {
  await add([text(0, 0.9)], ['bob']);
  const { find, asked } = setUp();
  expect(await find()).toMatchObject({ hits: [], report: { outcome: 'applied', tokens: 0 } });
  expect(asked).toEqual([]);
});
