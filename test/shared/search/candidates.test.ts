import { describe, expect, test } from '@jest/globals';
import type { Candidate, Index } from '../../../src/shared/ports.js';
import { createFindCandidates } from '../../../src/shared/search/candidates.js';
import {
  createHybridRanker,
  createLexicalRanker,
  createSemanticRanker,
  type Scores,
  type Ranker,
} from '../../../src/shared/search/ranking.js';

const K = 10;

/** Looks for ten chunks by words, in an index that answers with this many candidates. */
async function find(minScore: number, count: number) {
  const candidates = Array.from({ length: count }, (_, number): Candidate => {
    return { documentId: 'document', generation: 'document.1.1', number, score: 0.5 };
  });
  const unused = () => Promise.reject(new Error('not asked for'));
  const index: Pick<Index, 'vectors' | 'words'> = {
    vectors: { search: unused, similarities: unused },
    words: { search: ({ limit }) => Promise.resolve(candidates.slice(0, limit)), scores: unused },
  };
  const request = {
    principal: { id: 'caller' },
    filter: null,
    query: 'crane',
    k: K,
    minScore,
    per: 'chunk',
  } as const;
  const confirmation = { onUnconfirmed: undefined };
  return createFindCandidates({
    index,
    ranker: createLexicalRanker(),
    request,
    embed: unused,
    confirmation,
  })(1);
}

test.each([
  // An index that has found enough of a least score looks no further.
  { minScore: 0.4, count: K - 1, isCutOff: false },
  { minScore: 0.4, count: K, isCutOff: true },
  { minScore: 0, count: K + 15, isCutOff: false },
  { minScore: 0, count: K + 16, isCutOff: true },
])('of $count candidates of at least $minScore there may be more: $isCutOff', async (each) => {
  const found = await find(each.minScore, each.count);
  expect([found.candidates.length, found.isCutOff]).toEqual([each.count, each.isCutOff]);
});

interface Chunk extends Scores {
  readonly generation?: string;
}

/** An index with chunks of these two scores, of which the nearest and the best by words are found. NaN: it goes away meanwhile. */
function createIndex(chunks: readonly Chunk[]): Pick<Index, 'vectors' | 'words'> {
  const candidate = (number: number, score: number): Candidate => {
    const generation = chunks[number]?.generation ?? 'document.1.1';
    return { documentId: 'document', generation, number, score };
  };
  const best = (score: (chunk: Scores) => number, limit: number) =>
    chunks
      .map((chunk, number) => candidate(number, score(chunk)))
      .filter((each) => each.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  const at = (numbers: readonly { readonly number: number }[], score: (chunk: Scores) => number) =>
    Float64Array.from(numbers, ({ number }) => score(chunks[number] ?? { similarity: NaN, share: NaN }));
  return {
    vectors: {
      search: ({ limit }) => Promise.resolve(best(({ similarity }) => similarity, limit)),
      similarities: (asked) => Promise.resolve(at(asked.chunks, ({ similarity }) => similarity)),
    },
    words: {
      search: ({ limit }) => Promise.resolve(best(({ share }) => share, limit)),
      scores: (asked) => Promise.resolve(at(asked.chunks, ({ share }) => share)),
    },
  };
}

/** Returns the scores that a hybrid ranker is asked to weigh, and the candidates that are left. */
async function weigh(chunks: readonly Chunk[]) {
  const weighed: Scores[] = [];
  const ranker: Ranker = {
    ranking: 'hybrid',
    combineFor: (candidates) => {
      weighed.push(...candidates.map(({ similarity, share }) => ({ similarity, share })));
      const combine = (similarity: number, share: number) => (similarity + share) / 2;
      return Object.assign(combine, { vectors: { weight: 0.5, floor: 0 } });
    },
  };
  const found = await createFindCandidates({
    index: createIndex(chunks),
    ranker,
    request: { principal: { id: 'caller' }, filter: null, query: 'crane', k: K, minScore: 0, per: 'chunk' },
    embed: () => Promise.resolve(new Float32Array(1)),
    confirmation: { onUnconfirmed: undefined },
  })(1);
  return { weighed, found };
}

test('a hybrid ranking weighs the nearest and the best by words, each with both scores', async () => {
  const near = Array.from({ length: 400 }, (_, i) => ({ similarity: 0.9 - i / 1_000, share: i / 1e6 }));
  const holding = Array.from({ length: 50 }, (_, i) => ({ similarity: 0.1 - i / 1e6, share: 0.9 - i / 100 }));
  const { weighed, found } = await weigh([...near, ...holding, { similarity: 0.05, share: 0.01 }]);
  const inOrder = (scores: readonly Scores[]) =>
    scores.toSorted((a, b) => b.similarity + b.share - a.similarity - a.share);
  expect(inOrder(weighed)).toEqual(inOrder([...near, ...holding]));
  const scores = found.candidates.map(({ score }) => score).sort((a, b) => b - a);
  expect(scores).toEqual(inOrder(weighed).map(({ similarity, share }) => (similarity + share) / 2));
});

test('what went away while its scores were read is not weighed', async () => {
  const there = { similarity: 0.5, share: 0.5 };
  const { weighed, found } = await weigh([
    { similarity: NaN, share: 0.9 },
    there,
    { similarity: 0.9, share: NaN },
  ]);
  expect(weighed).toEqual([there]);
  expect(found.candidates).toHaveLength(1);
  expect(found.gone).toHaveLength(1);
});

test('of each generation that went away meanwhile one candidate is told, and none of what is there', async () => {
  const { found } = await weigh([
    { similarity: 0.9, share: NaN, generation: 'a.1.1' },
    { similarity: 0.8, share: NaN, generation: 'a.1.1' },
    { similarity: NaN, share: 0.7, generation: 'b.1.1' },
    { similarity: 0.5, share: 0.5, generation: 'c.1.1' },
    { similarity: 0.4, share: 0, generation: 'd.1.1' },
  ]);
  expect(found.gone.map(({ generation }) => generation).sort()).toEqual(['a.1.1', 'b.1.1']);
  expect(found.candidates.map(({ generation }) => generation).sort()).toEqual(['c.1.1', 'd.1.1']);
});

test.each([
  { near: 399, holding: 49, isCutOff: false },
  { near: 400, holding: 0, isCutOff: true },
  { near: 0, holding: 50, isCutOff: true },
])('of $near near ones and $holding that hold the words there may be more: $isCutOff', async (each) => {
  const { near, holding, isCutOff } = each;
  const { found } = await weigh([
    ...Array.from({ length: near }, () => ({ similarity: 0.5, share: 0 })),
    ...Array.from({ length: holding }, () => ({ similarity: 0, share: 0.5 })),
  ]);
  expect(found).toMatchObject({ isCutOff, needed: 0, gone: [] });
  expect(found.candidates).toHaveLength(near + holding);
});

test.each([
  { count: K + 15, isCutOff: false },
  { count: K + 16, isCutOff: true },
])('of $count nearest there may be more: $isCutOff', async ({ count, isCutOff }) => {
  const found = await createFindCandidates({
    index: createIndex(Array.from({ length: count }, () => ({ similarity: 0.5, share: 0 }))),
    ranker: createSemanticRanker(),
    request: { principal: { id: 'caller' }, filter: null, query: 'crane', k: K, minScore: 0, per: 'chunk' },
    embed: () => Promise.resolve(new Float32Array(1)),
    confirmation: { onUnconfirmed: undefined },
  })(1);
  expect([found.candidates.length, found.isCutOff]).toEqual([count, isCutOff]);
});

describe('candidates are asked for', () => {
  const { signal } = new AbortController();
  const request = {
    principal: { id: 'caller' },
    filter: { type: 'exists', path: 'a' },
    query: 'crane',
    k: K,
    minScore: 0,
    per: 'chunk',
    signal,
  } as const;
  const who = { principal: { id: 'caller' }, filter: request.filter, signal };
  const vector = Float32Array.of(1);

  /** Returns the questions to the index, in order. */
  async function ask(
    ranker: Ranker,
    changes: Partial<Parameters<typeof createFindCandidates>[0]['request']> = {},
    width = 1,
  ) {
    const asked: object[] = [];
    const found = (of: object) => {
      asked.push(of);
      return Promise.resolve([{ documentId: 'd', generation: 'g', number: asked.length, score: 0.5 }]);
    };
    const scores = (of: object) => {
      asked.push(of);
      return Promise.resolve(Float64Array.of(0.5));
    };
    const onUnconfirmed = () => undefined;
    const result = await createFindCandidates({
      index: { vectors: { search: found, similarities: scores }, words: { search: found, scores } },
      ranker,
      request: { ...request, ...changes },
      embed: () => Promise.resolve(vector),
      confirmation: { onUnconfirmed },
    })(width);
    return { asked, result, onUnconfirmed };
  }

  test('by words with all that the search says, sixteen more than are wanted, and more for a second look', async () => {
    const { asked, onUnconfirmed, result } = await ask(createLexicalRanker());
    const words = { ...who, query: 'crane', minScore: 0, onUnconfirmed };
    expect(asked).toEqual([{ ...words, limit: K + 16, enough: K }]);
    expect(result).toMatchObject({ needed: K + 16, gone: [] });
    expect((await ask(createLexicalRanker(), {}, 2)).asked).toMatchObject([
      { limit: 2 * (K + 16), enough: 2 * K },
    ]);
    const documents = await ask(createLexicalRanker(), { per: 'document' });
    expect(documents.asked).toMatchObject([{ limit: 4 * K + 16, enough: 4 * K + 16 }]);
  });

  test('by the vector of the query alone, whose similarity is their score', async () => {
    const { asked, result } = await ask(createSemanticRanker(), {}, 3);
    expect(asked).toEqual([{ ...who, vector, limit: 3 * (K + 16) }]);
    expect(result).toEqual({
      candidates: [{ documentId: 'd', generation: 'g', number: 1, score: 0.5 }],
      isCutOff: false,
      needed: 0,
      gone: [],
      vectors: { weight: 1, floor: 0 },
    });
  });

  test('by both, at least so many of each, and what each of them lacks of the other score', async () => {
    const { asked } = await ask(createHybridRanker(0.5));
    const one = { documentId: 'd', generation: 'g', score: 0.5 };
    expect(asked).toEqual([
      { ...who, vector, limit: 400 },
      { ...who, query: 'crane', minScore: Number.MIN_VALUE, limit: 50 },
      { principal: { id: 'caller' }, query: 'crane', signal, chunks: [{ ...one, number: 1 }] },
      { principal: { id: 'caller' }, vector, signal, chunks: [{ ...one, number: 2 }] },
    ]);
    const large = await ask(createHybridRanker(0.5), { k: 200 }, 2);
    expect(large.asked.slice(0, 2)).toMatchObject([{ limit: 1_600 }, { limit: 432 }]);
  });

  test.each([0, 1])('by both, where both find the same %d, with no further question', async (count) => {
    let questions = 0;
    const ask = <Answer>(answer: Answer) => {
      questions += 1;
      return Promise.resolve(answer);
    };
    const same = [{ documentId: 'd', generation: 'g', number: 0, score: 0.5 }].slice(0, count);
    const search = () => ask(same);
    const scores = () => ask(new Float64Array());
    const found = await createFindCandidates({
      index: { vectors: { search, similarities: scores }, words: { search, scores } },
      ranker: createHybridRanker(0.5),
      request,
      embed: () => Promise.resolve(vector),
      confirmation: { onUnconfirmed: undefined },
    })(1);
    expect(found.candidates).toEqual(same);
    expect(questions).toBe(2);
  });
});
