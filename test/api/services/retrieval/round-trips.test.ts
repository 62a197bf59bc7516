import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAnswerMemory } from '../../../../src/api/services/answer-memory/answer-memory.js';
import { createRetrieval, type RetrievalRequest } from '../../../../src/api/services/retrieval/retrieval.js';
import { createUsageAccounting } from '../../../../src/api/services/usage-accounting.js';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import { createSharedViews } from '../../../../src/shared/access/sharing.js';
import type { Index } from '../../../../src/shared/ports.js';
import { createLexicalRanker } from '../../../../src/shared/search/ranking.js';
import { createUsage } from '../../../../src/shared/usage/usage.js';
import { createWriteBehind } from '../../../../src/shared/usage/write-behind.js';
import { noCollections } from '../../../support/everything-shared.js';
import { openSearchWorld, type SearchWorld } from '../../../support/search-world.js';
import { useTestRedis } from '../../../support/use-test-redis.js';
import { noDetails } from '../../../support/no-details.js';

const { url, redis } = useTestRedis();
let world: SearchWorld;
let index: Index;
beforeAll(async () => {
  world = await openSearchWorld(url);
  index = await createExactIndex({ redisUrl: url, held: 'of-terms' });
  while ((await index.state()) !== 'ready') await sleep(10);
});
afterAll(async () => {
  await index.close();
  world.close();
});

function setUp() {
  const sharedViews = createSharedViews(world.redis);
  const usage = createUsage(world.redis);
  const reads = createWriteBehind(redis, { logger: { warn: () => undefined } });
  const retrieval = createRetrieval({
    collections: noCollections,
    memory: createAnswerMemory({ limitBytes: 64 * 1024 ** 2 }),
    newestHits: () => Promise.resolve([]),
    rerankedSearch: null,
    details: noDetails,
    sharedViews,
    search: world.createSearch(index, createLexicalRanker()),
    accounting: createUsageAccounting(reads),
    // @NOTE searches of chunks read no documents
    records: {} as never,
    texts: {} as never,
    countTokens: () => 3,
    downloadUrl: () => null,
  });
  const find = (more: Partial<RetrievalRequest> = {}) =>
    retrieval.chunks({
      principal: { id: 'ann' },
      baseUrl: '',
      startedAtMs: Date.now(),
      signal: new AbortController().signal,
      query: 'heron',
      filter: null,
      k: 10,
      minScore: 0.01,
      ranking: undefined,
      rerank: null,
      ...more,
    });
  const stats = async (userId: string) => {
    await reads.untilStored();
    return usage.stats(userId);
  };
  return { stats, find };
}

test('a search asks Redis once, for its hits, and waits for no write; it is counted a moment later', async () => {
  const id = await world.create({ ownerId: 'ann', readers: ['ann'], writers: ['ann'], admins: ['ann'] });
  await world.publish(id, ['a heron', 'another heron', 'a lighthouse', `heron ${'word '.repeat(20_000)}`]);
  const { stats, find } = setUp();
  // A server that does not know a script yet is asked twice.
  await find({ k: 2 });
  expect(await stats('ann')).toMatchObject({ retrieve_chunks: 1 });
  const commands = [jest.spyOn(world.redis, 'eval'), jest.spyOn(world.redis, 'evalSha')];
  const sent = () => commands.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  const stored = jest.spyOn(redis, 'eval');

  expect(await find({ k: 2 })).toMatchObject({ type: 'whole', items: [{}, {}] });
  expect([sent(), stored.mock.calls.length]).toEqual([1, 0]);
  expect(await stats('ann')).toMatchObject({ retrieve_chunks: 2 });
  expect(stored).toHaveBeenCalledTimes(1);

  // It is too large to be sent at once.
  const large = await find({ k: 3 });
  if (large.type === 'whole') throw new Error('it was taken for small');
  for await (const { content } of large.items) expect(content).toContain('heron');
  expect(await stats('ann')).toMatchObject({ retrieve_chunks: 3 });
});

test('what a caller has said of others costs a search nothing, and holds with its response, also that of another process', async () => {
  const heron = { readers: ['cat'], writers: ['cat'], admins: ['cat'] };
  const own = await world.create({ ownerId: 'cat', ...heron });
  const spam = await world.create({ ownerId: 'mallory', ...heron });
  for (const id of [own, spam]) await world.publish(id, ['a heron']);
  const { find, stats } = setUp();
  const elsewhere = createSharedViews(world.redis);
  const found = async (more: Partial<RetrievalRequest> = {}) => {
    const answer = await find({ principal: { id: 'cat' }, ...more });
    if (answer.type !== 'whole') throw new Error('it is small');
    return answer.items.map(({ documentId }) => documentId).sort();
  };
  const all = [own, spam].sort();
  await found();
  const commands = [
    jest.spyOn(world.redis, 'eval'),
    jest.spyOn(world.redis, 'evalSha'),
    jest.spyOn(world.redis, 'hmGet'),
  ];
  const costOf = async (ask: () => Promise<unknown>) => {
    const sent = () => commands.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const before = sent();
    await ask();
    return sent() - before;
  };
  const block = (owners: readonly string[]) =>
    elsewhere.change('cat', (lists) => ({ ...lists, blockedOwners: owners }));

  // Without lists, and with lists that this process knows, a search is one command.
  expect(await costOf(async () => expect(await found()).toEqual(all))).toBe(1);
  await block(['mallory']);
  expect(await found()).toEqual([own]);
  expect(await costOf(async () => expect(await found()).toEqual([own]))).toBe(1);
  expect(await costOf(async () => expect(await found({ shared: 'own' })).toEqual([own]))).toBe(1);
  await block([]);
  expect(await found()).toEqual(all);
  // No hit is read that could tell of a change where everything was blocked.
  await block(['mallory', 'cat']);
  expect(await found()).toEqual([]);
  await block([]);
  expect(await found()).toEqual(all);
  expect(await found({ shared: 'accepted' })).toEqual([own]);
  await elsewhere.change('cat', (lists) => ({ ...lists, acceptedDocuments: [spam] }));
  expect(await found({ shared: 'accepted' })).toEqual(all);
  // Searches that began again are counted once.
  expect(await stats('cat')).toMatchObject({ retrieve_chunks: 10 });
});
