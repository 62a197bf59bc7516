import { describe, expect, test } from '@jest/globals';
import type { Candidate, Index, WordSearch } from '../../src/shared/ports.js';
import { createProposals } from '../../src/shared/proposals.js';
import type { TermStatistics } from '../../src/shared/query-words.js';
import { createHybridRanker, createLexicalRanker, createSemanticRanker } from '../../src/shared/ranking.js';
import type { Ranker } from '../../src/shared/ranking.js';
import { analyzeText, hashTerm } from '../../src/shared/terms.js';

const candidate = (number: number): Candidate => ({
  ...{ documentId: 'd', generation: 'd.1.1', number, similarity: 0, terms: new Uint8Array() },
});
const chunks = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => candidate(first + i));
const numbers = (found: readonly Candidate[]) => found.map(({ number }) => number);

/** An index that has so many chunks by vector, and by words what it is told. */
function stubIndex(byVector: number, byWords: (asked: WordSearch) => readonly Candidate[]) {
  const asked: string[] = [];
  const index: Pick<Index, 'search' | 'searchWords' | 'seeksAllWords'> = {
    seeksAllWords: false,
    search: ({ limit }) => {
      asked.push(`vector ${String(limit)}`);
      return Promise.resolve(chunks(0, Math.min(limit, byVector)));
    },
    searchWords: (request) => {
      asked.push(`words ${String(request.limit)}`);
      return Promise.resolve(byWords(request).slice(0, request.limit));
    },
  };
  // @NOTE nothing else of an index is asked here
  return { index: index as Index, asked };
}

const statistics: TermStatistics = {
  ...{ chunks: 1_000, totalLength: 100_000 },
  frequencies: new Map([
    [hashTerm('harbour'), 990],
    [hashTerm('crane'), 10],
  ]),
};

function propose(index: Index, ranker: Ranker, { query = 'crane', k = 10, minScore = 0 } = {}) {
  let embedded = 0;
  const embed = () => {
    embedded += 1;
    return Promise.resolve(new Float32Array());
  };
  const request = { callerId: 'owner', query, filter: null, k, minScore };
  return {
    proposals: createProposals({ index, ranker, request, embed, statistics }),
    embedded: () => embedded,
  };
}

describe('lexical ranking, where the index finds by words', () => {
  const lexical = createLexicalRanker();

  test('asks for words alone while they fill a page, without the vector of the query', async () => {
    const { index, asked } = stubIndex(1_000, () => chunks(0, 300));
    const { proposals, embedded } = propose(index, lexical);
    expect(await proposals.ask()).toHaveLength(128);
    expect(proposals.widen(true)).toBe(false);
    expect(proposals.widen(false)).toBe(true);
    expect(await proposals.ask()).toHaveLength(256);
    expect(asked).toEqual(['words 128', 'words 256']);
    expect(embedded()).toBe(0);
  });

  test('asks for more where there are more chunks that score alike, and for long pages', () => {
    const count = (k: number, of: number) =>
      lexical.byWords?.candidateCount(k, { ...statistics, chunks: of });
    expect([0, 10_000, 250_000, 10_000_000].map((of) => count(10, of))).toEqual([200, 128, 500, 1_000]);
    expect([count(100, 10_000), count(1_000, 250_000)]).toEqual([400, 4_000]);
  });

  test('fills up with the nearest, each chunk once, until there are no more', async () => {
    const { index, asked } = stubIndex(5, () => chunks(3, 4));
    const { proposals } = propose(index, lexical);
    expect(numbers(await proposals.ask())).toEqual([3, 4, 5, 6]);
    expect(proposals.widen(true)).toBe(true);
    expect(numbers(await proposals.ask())).toEqual([3, 4, 5, 6, 0, 1, 2]);
    expect(proposals.widen(false)).toBe(false);
    expect(asked).toEqual(['words 128', 'words 128', 'vector 400']);
  });

  test('does not fill up where what holds no word would score too little', async () => {
    const { index, asked } = stubIndex(5, () => chunks(3, 4));
    const { proposals } = propose(index, lexical, { minScore: 0.1 });
    expect(await proposals.ask()).toHaveLength(4);
    expect(proposals.widen(false)).toBe(false);
    expect(asked).toEqual(['words 128']);
  });

  test('fills up for a query of more words than are looked for', async () => {
    const many = Array.from(
      { length: 80 },
      (_, i) => `word${String.fromCharCode(97 + (i % 26))}${String(i)}`,
    );
    const { index, asked } = stubIndex(5, ({ words }) => chunks(3, words.terms.length === 64 ? 1 : 0));
    const { proposals } = propose(index, lexical, { query: many.join(' '), minScore: 0.1 });
    expect(numbers(await proposals.ask())).toEqual([3]);
    expect(proposals.widen(true)).toBe(true);
    expect(await proposals.ask()).toHaveLength(5);
    expect(asked).toEqual(['words 128', 'words 128', 'vector 400']);
  });

  test('looks for the words that tell chunks apart first, and keeps what these found', async () => {
    const rare = [...analyzeText('crane').counts.keys()];
    const { index } = stubIndex(0, ({ words }) =>
      words.terms.length === 1 ? [candidate(900)] : chunks(0, 500),
    );
    const { proposals } = propose(index, lexical, { query: 'harbour crane', minScore: 0.001 });
    const [first] = lexical.byWords?.queries('harbour crane', statistics) ?? [];
    expect([...(first?.words.terms ?? [])]).toEqual(rare);
    expect(numbers(await proposals.ask())).toEqual([900]);
    expect(proposals.widen(true)).toBe(true);
    expect(numbers(await proposals.ask())).toEqual([900, ...numbers(chunks(0, 128))]);
    expect(proposals.widen(true)).toBe(false);
  });

  test('says what the first look may have missed, and looks no further where that would be too little', async () => {
    const { index } = stubIndex(0, ({ words }) =>
      words.terms.length === 1 ? chunks(0, 500) : chunks(0, 600),
    );
    const { proposals } = propose(index, lexical, { query: 'harbour crane' });
    await proposals.ask();
    const missed = proposals.missed();
    expect(missed).toBeGreaterThan(0);
    expect(missed).toBeLessThan(0.2);
    expect(proposals.widen(true)).toBe(true);
    await proposals.ask();
    expect(proposals.missed()).toBe(0);
    const picky = propose(index, lexical, { query: 'harbour crane', minScore: missed }).proposals;
    await picky.ask();
    expect(picky.widen(true)).toBe(false);
  });

  test('goes by vector for a query without a word', async () => {
    const { index, asked } = stubIndex(5, () => []);
    const { proposals } = propose(index, lexical, { query: '?!' });
    expect(await proposals.ask()).toEqual([]);
    expect(proposals.widen(true)).toBe(true);
    expect(await proposals.ask()).toHaveLength(5);
    expect(asked).toEqual(['vector 400']);
  });
});

test('hybrid ranking takes the nearest and what holds the words', async () => {
  const { index, asked } = stubIndex(3, ({ vector }) => (vector ? chunks(2, 2) : []));
  const { proposals } = propose(index, createHybridRanker(0.5));
  expect(numbers(await proposals.ask())).toEqual([0, 1, 2, 3]);
  expect(proposals.widen(false)).toBe(false);
  expect(asked.toSorted()).toEqual(['vector 400', 'words 50']);
});

test('hybrid ranking looks for common words, too, where others leave room', async () => {
  const rareIn = (count: number) =>
    stubIndex(0, ({ words }) => (words.terms.length === 1 ? chunks(0, count) : chunks(500, 10)));
  const ask = async (count: number) => {
    const { index } = rareIn(count);
    const { proposals } = propose(index, createHybridRanker(0.5), { query: 'harbour crane', minScore: 0.5 });
    return numbers(await proposals.ask());
  };
  expect(await ask(2)).toEqual([0, 1, ...numbers(chunks(500, 10))]);
  expect(await ask(60)).toEqual(numbers(chunks(0, 50)));
});

test('semantic ranking goes by vector alone', async () => {
  const { index, asked } = stubIndex(1_000, () => chunks(0, 5));
  const { proposals } = propose(index, createSemanticRanker());
  const found = await proposals.ask();
  expect(asked).toEqual([`vector ${String(found.length)}`]);
  expect(proposals.widen(true)).toBe(false);
  expect(proposals.widen(false)).toBe(true);
});

test('an index that answers with more than it was asked for is asked for more than that, once', async () => {
  const asked: number[] = [];
  const stale = (limit: number) => {
    asked.push(limit);
    return Promise.resolve(chunks(0, 5_000));
  };
  const index: Index = {
    ...stubIndex(0, () => []).index,
    search: ({ limit }) => stale(limit),
    searchWords: ({ limit }) => stale(limit),
  };
  for (const ranker of [createSemanticRanker(), createLexicalRanker()]) {
    asked.length = 0;
    const { proposals } = propose(index, ranker, { minScore: 0.1 });
    await proposals.ask();
    expect(proposals.widen(false)).toBe(true);
    await proposals.ask();
    expect(asked[1]).toBe(5_001);
    expect(proposals.widen(false)).toBe(false);
  }
});
