import { describe, expect, test } from '@jest/globals';
import {
  createLexicalRanker,
  createSemanticRanker,
  noStatistics,
  type TermStatistics,
} from '../../src/shared/ranking.js';
import { analyzeText, hashTerm, packTerms } from '../../src/shared/terms.js';

const lexical = createLexicalRanker();

function candidates(...texts: string[]): { terms: Uint8Array; similarity: number }[] {
  return texts.map((text) => ({ terms: packTerms(analyzeText(text)), similarity: 0.5 }));
}

function score(query: string, text: string, statistics: TermStatistics = noStatistics): number {
  return lexical.rank(query, candidates(text), statistics)[0] ?? NaN;
}

function statisticsOf(...texts: string[]): TermStatistics {
  const frequencies = new Map<number, number>();
  let totalLength = 0;
  for (const text of texts) {
    const { length, counts } = analyzeText(text);
    totalLength += length;
    for (const term of counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  }
  return { chunks: texts.length, totalLength, frequencies };
}

describe('the lexical ranker', () => {
  test('takes four times as many candidates as results, and at least two hundred', () => {
    expect([1, 100, 101, 1000].map((k) => lexical.candidateCount(k))).toEqual([400, 400, 404, 4000]);
  });

  test('asks for the statistics of the terms of the query', () => {
    expect(lexical.queryTerms('the wolf of the Wolf’s')).toEqual([hashTerm('wolf')]);
  });

  test('scores between 0 for nothing in common and 1 for a query wholly covered', () => {
    expect(score('wolf sheep', 'orchard')).toBe(0);
    expect(score('wolf sheep', 'wolf')).toBeGreaterThan(0);
    const whole = score('wolf sheep', 'wolf sheep '.repeat(200));
    expect(whole).toBeGreaterThan(0.9);
    expect(whole).toBeLessThanOrEqual(1);
  });

  test('prefers the chunk that covers more of the query, that repeats it, and that is shorter', () => {
    expect(score('wolf sheep', 'wolf sheep')).toBeGreaterThan(score('wolf sheep', 'wolf wolf'));
    expect(score('wolf', 'wolf wolf orchard')).toBeGreaterThan(score('wolf', 'wolf orchard orchard'));
    expect(score('wolf', 'wolf')).toBeGreaterThan(score('wolf', `wolf ${'orchard '.repeat(300)}`));
  });

  test('follows general text where the caller has no documents', () => {
    expect(score('people axolotl', 'axolotl')).toBeGreaterThan(score('people axolotl', 'people'));
    expect(score('der Molch und die', 'Molch')).toBeGreaterThan(score('der Molch und die', 'der die und'));
  });

  test("follows the caller's own documents where there are many", () => {
    const aquarium = statisticsOf(...Array.from({ length: 500 }, () => 'axolotl water'), 'people');
    expect(score('people axolotl', 'people', aquarium)).toBeGreaterThan(
      score('people axolotl', 'axolotl', aquarium),
    );
  });

  test('scores each chunk by itself, whatever else is proposed', () => {
    const together = lexical.rank('wolf sheep', candidates('wolf', 'sheep dog', 'orchard'), noStatistics);
    expect([...together]).toEqual([score('wolf sheep', 'wolf'), score('wolf sheep', 'sheep dog'), 0]);
  });

  test('scores 0 for a query without terms', () => {
    expect(score('to be or not to be', 'wolf')).toBe(0);
    expect(lexical.rank('wolf', [], noStatistics)).toHaveLength(0);
  });

  test('stays within bounds when statistics lag behind the documents', () => {
    const stale: TermStatistics = {
      chunks: 1,
      totalLength: 1,
      frequencies: new Map([[hashTerm('wolf'), 5000]]),
    };
    expect(score('wolf', 'wolf', stale)).toBeGreaterThan(0);
    expect(score('wolf', 'wolf', stale)).toBeLessThanOrEqual(1);
  });

  test('ranks four thousand candidates for the longest query within a second', () => {
    const word = (index: number) => `w${String(index)}x`;
    const query = Array.from({ length: 6000 }, (_, index) => word(index))
      .join(' ')
      .slice(0, 32_768);
    const [chunk] = candidates(Array.from({ length: 300 }, (_, index) => word(index * 7)).join(' '));
    const many = Array.from({ length: 4000 }, () => chunk ?? { terms: new Uint8Array(), similarity: 0 });
    const started = performance.now();
    const scores = lexical.rank(query, many, noStatistics);
    expect(scores).toHaveLength(4000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('the semantic ranker', () => {
  test('scores by similarity, clamped to 0 and 1, over exactly the results asked for', () => {
    const semantic = createSemanticRanker();
    const [chunk] = candidates('wolf');
    const proposed = [0.25, -0.5, 1.0000001].map((similarity) => ({
      terms: new Uint8Array(),
      ...chunk,
      similarity,
    }));
    expect([...semantic.rank('wolf', proposed, noStatistics)]).toEqual([0.25, 0, 1]);
    expect(semantic.candidateCount(7)).toBe(7);
    expect(semantic.queryTerms('wolf')).toEqual([]);
  });
});
