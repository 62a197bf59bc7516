import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAnswerMemory } from '../../../../src/api/services/answer-memory/answer-memory.js';
import { createRetrieval, type RetrievalRequest } from '../../../../src/api/services/retrieval/retrieval.js';
import { createUsageAccounting } from '../../../../src/api/services/usage-accounting.js';
import { createExactIndex } from '../../../../src/shared/adapters/exact-index/exact-index.js';
import type { Index } from '../../../../src/shared/ports.js';
import { createLexicalRanker } from '../../../../src/shared/search/ranking.js';
import { createUsage } from '../../../../src/shared/usage/usage.js';
import { openSearchWorld, type SearchWorld } from '../../../support/search-world.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { url } = useTestRedis();
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
  const usage = createUsage(world.redis);
  const retrieval = createRetrieval({
    memory: createAnswerMemory({ limitBytes: 64 * 1024 ** 2 }),
    rerankedSearch: null,
    search: world.createSearch(index, createLexicalRanker()),
    accounting: createUsageAccounting(usage),
    // @NOTE searches of chunks read no documents
    records: {} as never,
    texts: {} as never,
    countTokens: () => 3,
    downloadUrl: () => null,
  });
  const find = (more: Partial<RetrievalRequest> = {}) =>
    retrieval.chunks({
      callerId: 'ann',
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
  return { usage, find };
}

test('a search asks Redis once for its hits, which also counts it, and twice where that has to come after them', async () => {
  const id = await world.create({ ownerId: 'ann', readers: ['ann'], writers: ['ann'], admins: ['ann'] });
  await world.publish(id, ['a heron', 'another heron', 'a lighthouse', `heron ${'word '.repeat(20_000)}`]);
  const { usage, find } = setUp();
  // A server that does not know a script yet is asked twice.
  await find();
  const commands = [jest.spyOn(world.redis, 'eval'), jest.spyOn(world.redis, 'evalSha')];
  const sent = () => commands.reduce((sum, { mock }) => sum + mock.calls.length, 0);

  expect(await find({ k: 2 })).toMatchObject({ type: 'whole', items: [{}, {}] });
  expect(sent()).toBe(1);
  expect(await usage.stats('ann')).toMatchObject({ retrieve_chunks: 1 });

  // It is too large to be sent at once.
  const before = sent();
  const large = await find({ k: 3 });
  if (large.type === 'whole') throw new Error('it was taken for small');
  for await (const { content } of large.items) expect(content).toContain('heron');
  expect(sent() - before).toBe(2);
  expect(await usage.stats('ann')).toMatchObject({ retrieve_chunks: 2 });
});
