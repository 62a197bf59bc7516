import { expect, test } from '@jest/globals';
import { noStatistics, type TermStatistics } from '../../../src/index/index.js';
import { inverseDocumentFrequency } from '../../../src/index/scoring/score.js';
import { heaviestTerms, toWordQuery, weighQuery } from '../../../src/shared/search/ranking.js';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { backgroundRate } from '../../../src/shared/text/background-terms.js';
import { hashTerm } from '../../../src/shared/text/hash-term.js';

const statistics: TermStatistics = {
  chunks: 100_000,
  totalLength: 10_000_000,
  frequencies: new Map([
    [hashTerm('harbour'), 60_000],
    [hashTerm('crane'), 20],
  ]),
};
const weightOf = (word: string, query: string, known = statistics) => {
  const { terms, weights } = weighQuery(query, known);
  return weights[terms.indexOf(hashTerm(word))] ?? NaN;
};

test('terms come in ascending order, once each, with shares of their weight', () => {
  const { terms, weights } = weighQuery('harbour crane wagon crane', statistics);
  const distinct = [...analyzeText('harbour crane wagon').counts.keys()];
  expect([...terms]).toEqual(distinct.sort((a, b) => a - b));
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
  expect(weighQuery('?!', statistics).terms).toHaveLength(0);
});

test('terms are known before their statistics are, and weigh the same with these later', () => {
  const { terms, weigh } = toWordQuery('harbour crane wagon crane');
  const distinct = [...analyzeText('harbour crane wagon').counts.keys()];
  expect(terms.toSorted((a, b) => a - b)).toEqual(distinct.sort((a, b) => a - b));
  expect(weigh(statistics)).toEqual(weighQuery('harbour crane wagon crane', statistics));
});

test('a term weighs by how many of the own chunks and of thirty chunks of general text hold it', () => {
  const words = ['water', 'harbour', 'crane', 'quxbar'];
  const weight = (word: string) => {
    const own = statistics.frequencies.get(hashTerm(word)) ?? 0;
    return inverseDocumentFrequency(own + 30 * backgroundRate(hashTerm(word)), statistics.chunks + 30);
  };
  expect([backgroundRate(hashTerm('water')) > 0, backgroundRate(hashTerm('quxbar'))]).toEqual([true, 0]);
  const total = words.reduce((sum, word) => sum + weight(word), 0);
  for (const word of words) expect(weightOf(word, words.join(' '))).toBeCloseTo(weight(word) / total, 12);
});

test('rare terms weigh more than common ones', () => {
  expect(weightOf('crane', 'harbour crane')).toBeGreaterThan(0.9);
});

test('a term weighs as often as the query repeats it, up to eight times', () => {
  const ratio = (repeats: number) => {
    const query = `harbour ${'crane '.repeat(repeats)}`;
    return weightOf('crane', query) / weightOf('harbour', query) / ratioOfOne;
  };
  const ratioOfOne = weightOf('crane', 'harbour crane') / weightOf('harbour', 'harbour crane');
  for (const repeats of [2, 5, 8]) expect(ratio(repeats)).toBeCloseTo(repeats, 9);
  expect(ratio(50)).toBeCloseTo(8, 9);
});

test('the average length is between that of general text and of the own chunks', () => {
  expect(weighQuery('crane', noStatistics).averageLength).toBe(150);
  expect(weighQuery('crane', statistics).averageLength).toBeCloseTo(100, 1);
});

test('of a query as long as a text the 128 heaviest terms count', () => {
  const rare = Array.from({ length: 200 }, (_, i) => `rare${String(i)}`).join(' ');
  const { terms } = weighQuery(`harbour ${rare}`, statistics);
  expect(terms).toHaveLength(128);
  expect(terms).not.toContain(hashTerm('harbour'));
});

test('the heaviest terms come first, and of equal ones the same count in whatever order the query has them', () => {
  const words = Array.from({ length: 200 }, (_, i) => `rare${String(i)}`);
  const heaviest = heaviestTerms(`harbour ${words.join(' ')} crane crane`, statistics);
  expect(heaviest[0]?.term).toBe(hashTerm('crane'));
  const weights = heaviest.map(({ weight }) => weight);
  expect(weights).toEqual(weights.toSorted((a, b) => b - a));
  expect(heaviestTerms(`crane crane ${words.toReversed().join(' ')} harbour`, statistics)).toEqual(heaviest);
});
