import { expect, test } from '@jest/globals';
import { createQualitySums, isEnglish } from '../../bench/quality/quality-sums.js';

const second = 1 / Math.log2(3);

test('documents of equal score count as on average over their orders, with the range of these', () => {
  const sums = createQualitySums();
  const found = [
    { id: 'irrelevant', score: 0.5 },
    { id: 'relevant', score: 0.5 },
  ];
  sums.add(found, new Set(['relevant']));
  const { ndcg10, range, recall100 } = sums.means();
  expect(ndcg10).toBeCloseTo((1 + second) / 2, 3);
  expect(range).toBe(`${second.toFixed(4)}–1`);
  expect(recall100).toBe(1);
});

test('without ties there is no range, and the mean is over all queries', () => {
  const sums = createQualitySums();
  sums.add([{ id: 'relevant', score: 0.5 }], new Set(['relevant']));
  sums.add([{ id: 'irrelevant', score: 0.5 }], new Set(['relevant']));
  expect(sums.means()).toEqual({ ndcg10: 0.5, range: '', recall100: 0.5 });
});

test('a group of equal scores that reaches beyond the tenth place counts by the places within', () => {
  const sums = createQualitySums();
  const found = Array.from({ length: 20 }, (_, at) => ({ id: String(at), score: 0.5 }));
  sums.add(found, new Set(['19']));
  const places = Array.from({ length: 10 }, (_, at) => 1 / Math.log2(at + 2));
  expect(sums.means().ndcg10).toBeCloseTo(places.reduce((sum, each) => sum + each) / 20, 3);
});

test('a document counts where its best chunk is', () => {
  const sums = createQualitySums();
  const chunks = ['relevant', 'irrelevant', 'relevant'].map((id, at) => ({ id, score: 0.9 - at / 10 }));
  sums.add(chunks, new Set(['relevant']));
  expect(sums.means().ndcg10).toBe(1);
});

test('English is told by its commonest words in the documents or in the queries', () => {
  const collection = (document: string, query: string) => ({
    name: 'any',
    documents: [{ id: '1', text: document }],
    queries: [{ id: '1', text: query }],
    relevant: new Map<string, Set<string>>(),
  });
  expect(isEnglish(collection('The end of it', ''))).toBe(true);
  expect(isEnglish(collection('def add(a, b)', 'how to add two numbers'))).toBe(true);
  expect(isEnglish(collection('Das Ende und der Anfang', 'Wer war das?'))).toBe(false);
});
