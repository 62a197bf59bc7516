import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planPasses, type Pass } from '../../../src/shared/search/plan-passes.js';
import { noStatistics, type TermStatistics } from '../../../src/shared/search/query-terms.js';
import { createLexicalRanker, RANKINGS, type Ranking } from '../../../src/shared/search/ranking.js';
import { analyzeText, hashTerm } from '../../../src/shared/text/analyze-text.js';
import { packTerms } from '../../../src/shared/text/packed-terms.js';

const WORDS = ['harbour', 'signal', 'ledger', 'crane', 'wagon', 'copper', 'people'];

const statisticsOf = (chunks: number, frequencies: Record<string, number>): TermStatistics => ({
  chunks,
  totalLength: 100 * chunks,
  frequencies: new Map(Object.entries(frequencies).map(([word, count]) => [hashTerm(word), count])),
});
const termsOf = (text: string) => [...analyzeText(text).counts.keys()].sort((a, b) => a - b);
const PAGE = { k: 10, minScore: 0, hasCheapPostings: false };

function plan(query: string, statistics: TermStatistics, page: Partial<typeof PAGE> = {}): readonly Pass[] {
  return planPasses('lexical', { query, ...PAGE, ...page }, statistics);
}
/** Terms that each pass of a plan searches for, one list a search. */
function searches(passes: readonly Pass[]): number[][] {
  return passes.flatMap((pass) => {
    if (pass.kind === 'nearest') return [];
    return pass.kind === 'terms' ? [[...pass.terms.terms]] : pass.terms.map(({ terms }) => [...terms]);
  });
}
const kinds = (passes: readonly Pass[]) => passes.map(({ kind }) => kind);

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
    const hybrid = planPasses('hybrid', { query: 'harbour crane wagon', ...PAGE }, statistics);
    expect(searches(hybrid)).toEqual(both);
  });

  test('are all of them at once where the index reads postings of common terms quickly', () => {
    const statistics = statisticsOf(100_000, { harbour: 30_000, crane: 20, wagon: 10 });
    const passes = plan('harbour crane wagon', statistics, { hasCheapPostings: true });
    expect(searches(passes)).toEqual([termsOf('harbour crane wagon')]);
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
        const [score = NaN] = createLexicalRanker().rank(query.join(' '), [candidate], known);
        for (const [i, { kind, upperBound }] of passes.entries()) {
          const searched = new Set(searches(passes.slice(0, i + 1)).flat());
          if (kind === 'nearest' || [...analyzed.counts.keys()].some((term) => searched.has(term))) continue;
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
  const limits = (ranking: Ranking, k: number, known = statistics) =>
    planPasses(ranking, { query, ...PAGE, k }, known).map(({ limit }) => limit);

  test('by terms are followed by the nearest, which fill a page up', () => {
    expect(kinds(plan(query, statistics))).toEqual(['terms', 'terms', 'nearest']);
    expect(kinds(plan('?!', statistics))).toEqual(['nearest']);
  });

  test('that could find nothing that scores enough are left out', () => {
    const [first] = plan(query, statistics);
    expect(kinds(plan(query, statistics, { minScore: 0.001 }))).toEqual(['terms', 'terms']);
    expect(kinds(plan(query, statistics, { minScore: first?.upperBound ?? NaN }))).toEqual(['terms']);
    expect(plan('?!', statistics, { minScore: 0.001 })).toEqual([]);
    const long = Array.from({ length: 80 }, (_, i) => `rare${String(i)}`).join(' ');
    expect(kinds(plan(long, statistics, { minScore: 0.1 }))).toEqual(['terms', 'nearest']);
    expect(kinds(plan(long, statistics, { minScore: 0.3 }))).toEqual(['terms']);
  });

  test('of the other rankings are one each', () => {
    const of = (ranking: Ranking) => kinds(planPasses(ranking, { query, ...PAGE }, statistics));
    expect(RANKINGS.map(of)).toEqual([['nearest'], ['terms', 'terms', 'nearest'], ['hybrid']]);
  });

  test('take more candidates by terms where more chunks score alike, and for long pages', () => {
    const count = (k: number, chunks: number) => limits('lexical', k, statisticsOf(chunks, {}))[0];
    expect([0, 10_000, 250_000, 10_000_000].map((of) => count(10, of))).toEqual([200, 128, 500, 1_000]);
    expect([count(100, 10_000), count(1_000, 250_000)]).toEqual([400, 4_000]);
  });

  test('take a few more of the nearest than hits where similarity alone decides, many where terms do', () => {
    expect([1, 7, 10, 11, 100].flatMap((k) => limits('semantic', k))).toEqual([12, 12, 12, 27, 116]);
    expect([1, 100, 101, 1_000].map((k) => limits('lexical', k).at(-1))).toEqual([400, 400, 404, 4_000]);
    expect([1, 100, 101, 1_000].flatMap((k) => limits('hybrid', k))).toEqual([400, 400, 404, 4_000]);
    const [hybrid] = planPasses('hybrid', { query, ...PAGE, k: 100 }, statistics);
    expect(hybrid).toMatchObject({ termsLimit: 116 });
  });
});
