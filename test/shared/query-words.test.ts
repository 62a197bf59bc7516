import { describe, expect, test } from '@jest/globals';
import { noStatistics, soughtWords, weighQuery, type TermStatistics } from '../../src/shared/query-words.js';
import { createLexicalRanker } from '../../src/shared/ranking.js';
import { analyzeText, hashTerm, packTerms } from '../../src/shared/terms.js';

const statisticsOf = (chunks: number, frequencies: Record<string, number>): TermStatistics => ({
  ...{ chunks, totalLength: 100 * chunks },
  frequencies: new Map(Object.entries(frequencies).map(([word, count]) => [hashTerm(word), count])),
});
const termsOf = (text: string) => [...analyzeText(text).counts.keys()].sort((a, b) => a - b);
const looks = (query: string, statistics: TermStatistics) =>
  soughtWords(query, statistics).map(({ words }) => [...words.terms]);

describe('words to look for', () => {
  test('are all of them where none is common', () => {
    expect(looks('wolf sheep', noStatistics)).toEqual([termsOf('wolf sheep')]);
    expect(looks('', noStatistics)).toEqual([]);
  });

  test('are first those that tell chunks apart, then all', () => {
    const statistics = statisticsOf(100_000, { harbour: 30_000, crane: 20, wagon: 10 });
    expect(looks('harbour crane wagon', statistics)).toEqual([
      termsOf('crane wagon'),
      termsOf('harbour crane wagon'),
    ]);
  });

  test('are all of them where the common ones weigh much, or are quickly read', () => {
    const heavy = statisticsOf(100_000, { harbour: 30_000, crane: 20_000 });
    expect(looks('harbour crane', heavy)).toEqual([termsOf('harbour crane')]);
    const small = statisticsOf(2_000, { harbour: 900, crane: 1 });
    expect(looks('harbour crane wagon', small)).toEqual([termsOf('harbour crane wagon')]);
    const tiny = statisticsOf(200, { harbour: 190, crane: 1 });
    expect(looks('harbour crane wagon', tiny)).toEqual([termsOf('harbour crane wagon')]);
  });

  test('leave out the commonest before what is less common', () => {
    const statistics = statisticsOf(100_000, { harbour: 40_000, ledger: 5_000, crane: 20, wagon: 10 });
    expect(looks('harbour ledger crane wagon', statistics)[0]).toEqual(termsOf('ledger crane wagon'));
  });

  test('are the weightiest of a long query, and never the same ones twice', () => {
    const rare = Array.from({ length: 70 }, (_, i) => `rare${String(i)}`).join(' ');
    const statistics = statisticsOf(100_000, { harbour: 40_000 });
    const [only, ...others] = looks(`harbour ${rare}`, statistics);
    expect(only).toHaveLength(64);
    expect(only).not.toContain(hashTerm('harbour'));
    expect(others).toEqual([]);
  });

  test('miss at most what they say: a chunk of all that was left out scores less, however often it says it', () => {
    const statistics = statisticsOf(100_000, {
      harbour: 60_000,
      signal: 30_000,
      crane: 20,
      wagon: 10,
      copper: 5,
    });
    const query = 'harbour signal crane wagon copper';
    const [first] = soughtWords(query, statistics);
    const left = weighQuery(query, statistics).terms.length - (first?.words.terms.length ?? 0);
    expect(left).toBeGreaterThan(0);
    const text = 'harbour signal '.repeat(100);
    const terms = packTerms(analyzeText(text));
    const [score = 1] = createLexicalRanker().rank(query, [{ terms, similarity: 0 }], statistics);
    expect(first?.missed).toBeLessThan(0.2);
    expect(score).toBeLessThan(first?.missed ?? 0);
    expect(score).toBeGreaterThan(0);
  });
});
