import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { at } from '../../../src/shared/at.js';
import { NOWHERE } from '../../../src/shared/chunks/fields.js';
import type { RerankTask, Reranking } from '../../../src/shared/models/reranking.js';
import type { ReadHits } from '../../../src/shared/search/read-hits.js';
import type { SearchRequest } from '../../../src/shared/search/request.js';
import { createRerankedSearch } from '../../../src/shared/search/reranked-search.js';
import { createSearch } from '../../../src/shared/search/search.js';
import { matchable } from '../../support/matchable.js';
import { relevanceIn } from '../../support/fake-reranker.js';
import { RANKERS } from '../../support/search-worlds.js';

const byRelevance: Reranking['rerank'] = ({ documents }) =>
  Promise.resolve({ type: 'applied', scores: documents.map(relevanceIn), tokens: 2 });

/**
 * Documents by their ids, in the first order, each with the relevance of its chunks; and a reranked search of them, whose
 * provider is played.
 */
function setUp({
  documents,
  rerank = byRelevance,
  candidates = 5,
  deadlineMilliseconds = 60_000,
}: {
  readonly documents: Readonly<Record<string, readonly number[]>>;
  readonly rerank?: Reranking['rerank'];
  readonly candidates?: number;
  readonly deadlineMilliseconds?: number;
}) {
  const ids = Object.keys(documents);
  const versions = new Map(ids.map((id) => [id, 1]));
  const generationOf = (id: string) => `${id}.${String(versions.get(id))}`;
  const textOf = (generation: string, number: number) =>
    `relevance ${String(documents[generation.split('.')[0] ?? '']?.[number])}`;
  const chunks = () =>
    ids.flatMap((documentId, i) =>
      (documents[documentId] ?? []).map((_, number) => {
        return {
          documentId,
          generation: generationOf(documentId),
          number,
          score: 0.9 - i / 10 - number / 1_000,
        };
      }),
    );
  const unused = () => Promise.reject(new Error('not asked for'));
  const readHits: ReadHits = (addresses, of, keep) => {
    const { published } = matchable({});
    const record = (id: string) =>
      matchable({}, { id, published: published && { ...published, generation: generationOf(id) } });
    return Promise.resolve({
      contents: addresses.map(({ generation, number }) => ({ text: textOf(generation, number), ...NOWHERE })),
      records: of.map((id) => keep(record(id))),
    });
  };
  const search = createSearch({
    index: {
      vectors: { search: unused, similarities: unused },
      words: { search: ({ limit }) => Promise.resolve(chunks().slice(0, limit)), scores: unused },
    },
    embedding: { embedQuery: unused },
    chooseRanker: () => RANKERS.lexical,
    readHits,
  });
  const made: SearchRequest['per'][] = [];
  const tasks: RerankTask[] = [];
  const reranked = createRerankedSearch({
    search: (request) => {
      made.push(request.per);
      return search(request);
    },
    reranking: {
      candidates,
      deadlineMilliseconds,
      mayBegin: () => true,
      rerank: (task) => {
        tasks.push(task);
        return rerank(task);
      },
    },
    readHits,
  });
  const find = async (more: Partial<SearchRequest> = {}) => {
    const request = {
      principal: { id: 'alice' },
      query: 'crane',
      filter: null,
      k: 3,
      minScore: 0,
      per: 'chunk',
    } as const;
    const { hits, report } = await reranked.search({ ...request, rerank: { topN: null }, ...more });
    return {
      report,
      found: hits.map(({ record, number }) => [record.id, number]),
      scores: hits.map(({ score }) => score),
    };
  };
  const replace = (id: string) => versions.set(id, (versions.get(id) ?? 0) + 1);
  return { find, made, tasks, replace, reranked };
}

test('further documents are looked for only where there may be some that are wanted', async () => {
  const documents = { a: [0.2, 0.6], b: [0.9, 0.1] };
  const enough = setUp({ documents, candidates: 4 });
  const best = [
    ['b', 0],
    ['a', 1],
  ];
  expect((await enough.find({ per: 'document', k: 2 })).found).toEqual(best);
  expect(enough.made).toEqual(['chunk']);
  const all = setUp({ documents, candidates: 10 });
  expect((await all.find({ per: 'document', k: 3 })).found).toEqual(best);
  expect(all.made).toEqual(['chunk']);
  const chunks = setUp({ documents, candidates: 3 });
  expect((await chunks.find()).scores).toEqual([0.9, 0.6, 0.2]);
  expect(chunks.made).toEqual(['chunk']);
});

test('the best chunks of further documents are scored as well where one has all the candidates', async () => {
  const documents = { a: [0.3, 0.4, 0.5, 0.3, 0.3, 0.8], b: [0.9], c: [0.1] };
  const { find, tasks, made, reranked } = setUp({ documents });
  const told: number[] = [];
  const onHits: SearchRequest['onHits'] = (hits) => told.push(hits.length);
  const { found, scores, report } = await find({ per: 'document', onHits });
  expect(found).toEqual([
    ['b', 0],
    ['a', 2],
    ['c', 0],
  ]);
  expect([scores, report]).toEqual([[0.9, 0.5, 0.1], { outcome: 'applied', tokens: 2 }]);
  expect(made).toEqual(['chunk', 'document']);
  expect(at(tasks, 0).documents.map(relevanceIn)).toEqual([0.3, 0.4, 0.5, 0.3, 0.3, 0.9, 0.1]);
  // All hits are told before they are scored, and are no more than it says that it holds.
  expect(Math.max(...told)).toBe(7);
  expect(reranked.hitsHeld({ per: 'document', k: 3 })).toBe(8);
  expect(reranked.hitsHeld({ per: 'chunk', k: 3 })).toBe(5);
  expect(reranked.hitsHeld({ per: 'chunk', k: 9 })).toBe(9);
});

test('the provider is asked with all that the request says, and about nothing not at all', async () => {
  const { signal } = new AbortController();
  const { find, tasks } = setUp({ documents: { a: [0.2] } });
  await find({ signal });
  const documents = ['relevance 0.2'];
  expect(tasks).toEqual([{ callerId: 'alice', query: 'crane', documents, milliseconds: 60_000, signal }]);
  const none = setUp({ documents: {} });
  expect(await none.find()).toEqual({ found: [], scores: [], report: { outcome: 'applied', tokens: 0 } });
  expect(none.tasks).toEqual([]);
});

test('what is replaced whenever the provider answers is asked about twice, within one deadline', async () => {
  const world = setUp({
    documents: { a: [0.9], b: [0.5] },
    rerank: async (task) => {
      await sleep(20);
      world.replace('a');
      return byRelevance(task);
    },
  });
  const { found, report } = await world.find();
  expect([found, report]).toEqual([[['b', 0]], { outcome: 'applied', tokens: 2 }]);
  const [first = NaN, second = NaN, ...more] = world.tasks.map(({ milliseconds }) => milliseconds);
  expect([first, more]).toEqual([60_000, []]);
  expect(second).toBeGreaterThan(0);
  // A timer may be a millisecond early.
  expect(second).toBeLessThanOrEqual(first - 19);
});

test('a deadline that is over before the second time gives the first order without the provider', async () => {
  const world = setUp({
    documents: { a: [0.1], b: [0.9] },
    deadlineMilliseconds: 10,
    rerank: async (task) => {
      await sleep(30);
      world.replace('a');
      return byRelevance(task);
    },
  });
  const { found, scores, report } = await world.find();
  expect(found).toEqual([
    ['a', 0],
    ['b', 0],
  ]);
  expect(scores).toEqual([0.9, 0.8]);
  expect(report).toEqual({ outcome: 'timeout', tokens: 0 });
  expect(world.tasks).toHaveLength(1);
});
