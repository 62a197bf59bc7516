import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noStatistics, type TermStatistics } from '../../../../src/index/index.js';
import {
  planWordPasses,
  type WordPass,
} from '../../../../src/shared/adapters/query-engine-index/engine-words.js';
import { createLexicalRanker } from '../../../../src/shared/search/ranking.js';
import { analyzeText } from '../../../../src/shared/text/list-terms.js';
import { hashTerm } from '../../../../src/shared/text/hash-term.js';
import { packTerms } from '../../../../src/index/scoring/packed-terms.js';
import { rankCandidates } from '../../../support/rank-candidates.js';

const WORDS = ['harbour', 'signal', 'ledger', 'crane', 'wagon', 'copper', 'people'];

const statisticsOf = (chunks: number, frequencies: Record<string, number>): TermStatistics => ({
  chunks,
  totalLength: 100 * chunks,
  frequencies: new Map(Object.entries(frequencies).map(([word, count]) => [hashTerm(word), count])),
});
const termsOf = (text: string) => [...analyzeText(text).counts.keys()].sort((a, b) => a - b);
const PAGE = { limit: 26, minScore: 0 };

function plan(
  query: string,
  statistics: TermStatistics,
  page: Partial<typeof PAGE> = {},
): readonly WordPass[] {
  return planWordPasses({ query, ...PAGE, ...page }, statistics);
}
/** Terms that each pass of a plan searches for. */
const searches = (passes: readonly WordPass[]): number[][] => passes.map(({ terms }) => [...terms.terms]);

describe('the terms that passes search for', () => {
  const looks = (query: string, statistics: TermStatistics) => searches(plan(query, statistics));

  test('are all of them where none is common', () => {
    expect(looks('wolf sheep', noStatistics)).toEqual([termsOf('wolf sheep')]);
    expect(looks('', noStatistics)).toEqual([]);
  });

  test('are first those that tell chunks apart, then all', () => {
    const statistics = statisticsOf(100_000, { harbour: 30_000, crane: 20, wagon: 10 });
    const both = [termsOf('crane wagon'), termsOf('harbour crane wagon')];
    expect(looks('harbour crane wagon', statistics)).toEqual(both);
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

  test('are the heaviest of a long query, and never the same ones twice', () => {
    const rare = Array.from({ length: 70 }, (_, i) => `rare${String(i)}`).join(' ');
    const statistics = statisticsOf(100_000, { harbour: 40_000 });
    const [only, ...others] = looks(`harbour ${rare}`, statistics);
    expect(only).toHaveLength(64);
    expect(only).not.toContain(hashTerm('harbour'));
    expect(others).toEqual([]);
  });
});

describe('the upper bound of a pass', () => {
  const chunks = fc.constantFrom(0, 150, 400, 20_000, 100_000);
  const share = fc.constantFrom(0, 0.0001, 0.01, 0.3, 0.6, 0.95);
  const statistics = fc
    .tuple(chunks, fc.array(share, { minLength: WORDS.length, maxLength: WORDS.length }))
    .map(([all, shares]) =>
      statisticsOf(
        all,
        Object.fromEntries(WORDS.map((word, i) => [word, Math.round(all * (shares[i] ?? 0))])),
      ),
    );
  const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 });

  test('is more than any chunk scores that it and the passes before it leave out', () => {
    let bounded = 0;
    fc.assert(
      fc.property(statistics, words, words, fc.integer({ min: 1, max: 60 }), (known, query, text, times) => {
        const passes = plan(query.join(' '), known);
        const repeated = Array.from({ length: times }, () => text.join(' ')).join(' ');
        const analyzed = analyzeText(repeated);
        const candidate = { terms: packTerms(analyzed), similarity: 0 };
        const [score = NaN] = rankCandidates(createLexicalRanker(), query.join(' '), {
          candidates: [candidate],
          statistics: known,
        });
        for (const [i, { upperBound }] of passes.entries()) {
          const searched = new Set(searches(passes.slice(0, i + 1)).flat());
          if ([...analyzed.counts.keys()].some((term) => searched.has(term))) continue;
          if (upperBound > 0) bounded += 1;
          expect(score === 0 || score < upperBound).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(bounded).toBeGreaterThan(20);
  });

  test('is no more than a fifth, so that the first pass is mostly the last', () => {
    fc.assert(
      fc.property(statistics, words, (known, query) => {
        for (const { upperBound } of plan(query.join(' '), known))
          expect(upperBound).toBeLessThanOrEqual(0.2);
      }),
    );
  });
});

describe('passes', () => {
  const statistics = statisticsOf(100_000, { harbour: 30_000, crane: 20, wagon: 10 });
  const query = 'harbour crane wagon';

  test('that could find nothing that scores enough are left out', () => {
    const [first] = plan(query, statistics);
    expect(plan(query, statistics, { minScore: 0.001 })).toHaveLength(2);
    // The section of a chunk that they leave out may make its score the mean of the bound and 1.
    const bound = first?.upperBound ?? NaN;
    expect(plan(query, statistics, { minScore: 0.49 + bound / 2 })).toHaveLength(2);
    expect(plan(query, statistics, { minScore: 0.51 + bound / 2 })).toHaveLength(1);
    expect(plan('?!', statistics)).toEqual([]);
  });

  test('take more candidates where more chunks score alike, and for long pages', () => {
    const count = (limit: number, chunks: number) =>
      plan(query, statisticsOf(chunks, {}), { limit })[0]?.limit;
    expect([0, 10_000, 250_000, 10_000_000].map((of) => count(26, of))).toEqual([200, 128, 500, 1_000]);
    expect([count(116, 10_000), count(1_016, 250_000)]).toEqual([348, 3_048]);
  });
});
