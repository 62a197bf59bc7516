import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noStatistics, type TermStatistics } from '../../../src/index/index.js';
import {
  shareOfVectors,
  createFittingRanker,
  createHybridRanker,
  createLexicalRanker,
  createRankers,
  createSemanticRanker,
  RANKINGS,
  type Scores,
} from '../../../src/shared/search/ranking.js';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { hashTerm } from '../../../src/shared/text/hash-term.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';
import { processorMilliseconds } from '../../support/processor-time.js';
import { rankCandidates } from '../../support/rank-candidates.js';

const lexical = createLexicalRanker();

function candidates(...texts: string[]): { terms: Uint8Array; similarity: number }[] {
  return texts.map((text) => ({ terms: packTerms(analyzeText(text)), similarity: 0.5 }));
}

function score(query: string, text: string, statistics: TermStatistics = noStatistics): number {
  return rankCandidates(lexical, query, { candidates: candidates(text), statistics })[0] ?? NaN;
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

  test('scores as BM25 with k1 = 1.2 and b = 0.75', () => {
    const length = 30;
    const chunk = `wolf wolf ${'orchard '.repeat(length - 2)}`;
    const averageOfGeneralText = 150;
    expect(score('wolf', chunk)).toBeCloseTo(
      2 / (2 + 1.2 * (0.25 + (0.75 * length) / averageOfGeneralText)),
      12,
    );
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

  test('scores each chunk by itself, whatever the other candidates are', () => {
    const together = rankCandidates(lexical, 'wolf sheep', {
      candidates: candidates('wolf', 'sheep dog', 'orchard'),
      statistics: noStatistics,
    });
    expect([...together]).toEqual([score('wolf sheep', 'wolf'), score('wolf sheep', 'sheep dog'), 0]);
  });

  test('scores 0 for a query without terms', () => {
    expect(score('to be or not to be', 'wolf')).toBe(0);
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

  test('ranks four thousand candidates for the longest query within ten seconds of the processor', () => {
    const word = (index: number) => `w${String(index)}x`;
    const query = Array.from({ length: 6000 }, (_, index) => word(index))
      .join(' ')
      .slice(0, 32_768);
    const [chunk] = candidates(Array.from({ length: 300 }, (_, index) => word(index * 7)).join(' '));
    const many = Array.from({ length: 4000 }, () => chunk ?? { terms: new Uint8Array(), similarity: 0 });
    const started = processorMilliseconds();
    const scores = rankCandidates(lexical, query, { candidates: many, statistics: noStatistics });
    expect(scores).toHaveLength(4000);
    expect(processorMilliseconds() - started).toBeLessThan(10_000);
  });
});

describe('the semantic ranker', () => {
  test('scores by similarity, clamped to 0 and 1', () => {
    const semantic = createSemanticRanker();
    expect([0.25, -0.5, 1.0000001].map((similarity) => semantic.combineFor([])(similarity, 0.5))).toEqual([
      0.25, 0, 1,
    ]);
  });
});

describe('the hybrid ranker', () => {
  const semantic = createSemanticRanker();
  const score = (weight: number, similarity: number, text: string) => {
    const scored = candidates(text).map((each) => ({ ...each, similarity }));
    const rank = (ranker: typeof semantic) =>
      rankCandidates(ranker, 'wolf sheep', { candidates: scored, statistics: noStatistics })[0] ?? NaN;
    return { hybrid: rank(createHybridRanker(weight)), meaning: rank(semantic), words: rank(lexical) };
  };

  test('scores by a weighted sum of similarity and words', () => {
    const { hybrid, words } = score(0.75, 0.4, 'wolf orchard');
    expect(words).toBeGreaterThan(0);
    expect(hybrid).toBeCloseTo(0.75 * 0.4 + 0.25 * words, 12);
    // Against the direction of the query is as far from it as across.
    expect(score(0.75, -1, 'orchard').hybrid).toBe(0);
  });

  test('scores between the two, and within bounds, whatever weight and similarity', () => {
    const texts = fc.array(fc.constantFrom('wolf', 'sheep', 'orchard'), { maxLength: 30 });
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const similarities = fc.double({ min: -1.001, max: 1.001, noNaN: true });
    fc.assert(
      fc.property(unit, similarities, texts, (weight, similarity, words) => {
        const scores = score(weight, similarity, words.join(' '));
        const [least, most] = [scores.meaning, scores.words].sort((a, b) => a - b);
        expect(scores.hybrid).toBeGreaterThanOrEqual(Math.max(0, (least ?? NaN) - 1e-12));
        expect(scores.hybrid).toBeLessThanOrEqual(Math.min(1, (most ?? NaN) + 1e-12));
      }),
    );
  });

  test('never scores a chunk lower for being more similar, or for holding more of the query', () => {
    for (const weight of [0, 0.3, 0.6, 1]) {
      const bySimilarity = [-0.2, 0, 0.3, 0.9, 1].map((each) => score(weight, each, 'wolf').hybrid);
      expect(bySimilarity).toEqual([...bySimilarity].sort((a, b) => a - b));
      const byWords = ['orchard', 'wolf orchard', 'wolf sheep'].map(
        (text) => score(weight, 0.5, text).hybrid,
      );
      expect(byWords).toEqual([...byWords].sort((a, b) => a - b));
    }
  });

  test('is one of the two at the ends', () => {
    expect(score(1, 0.4, 'wolf').hybrid).toBe(0.4);
    const { hybrid, words } = score(0, 0.4, 'wolf');
    expect(hybrid).toBe(words);
  });

  test('is made of the two scores, like the others of the one that they rank by', () => {
    expect(
      [createHybridRanker(0.75), lexical, semantic].map((ranker) => ranker.combineFor([])(0.4, 0.8)),
    ).toEqual([0.75 * 0.4 + 0.25 * 0.8, 0.8, 0.4]);
    expect(createHybridRanker(0.5).combineFor([])(NaN, 0.8)).toBeNaN();
  });

  test('tells the part of the vectors in it, and words have the rest', () => {
    const rankers = [createHybridRanker(0.75), createFittingRanker('wolf sheep', 0.3), lexical, semantic];
    for (const ranker of rankers)
      for (const similarity of [0, 0.2, 0.4, 0.9]) {
        const combine = ranker.combineFor([{ similarity, share: 0.1 }]);
        const vectors = shareOfVectors(combine.vectors, similarity);
        const words = (1 - combine.vectors.weight) * 0.1;
        expect(combine(similarity, 0.1)).toBeCloseTo(vectors + words, 12);
      }
  });
});

describe('choosing a ranker', () => {
  const query = 'wolf sheep';
  const floor = () => Promise.resolve(0.5);

  test('follows the request, and where it says nothing the standard', async () => {
    const choose = createRankers({ standard: 'hybrid', hybridWeight: 0.5, floor });
    const score = async (ranking?: 'semantic' | 'lexical' | 'hybrid') =>
      (await choose({ ranking, query })).combineFor([])(0.5, 0);
    expect([await score('semantic'), await score('lexical'), await score('hybrid')]).toEqual([0.5, 0, 0.25]);
    expect(await score()).toBe(0.25);
  });

  test('takes each ranking by its name', async () => {
    const names = ['semantic', 'lexical', 'hybrid'];
    expect(RANKINGS).toEqual(names);
    for (const hybridWeight of [0.5, 'auto'] as const) {
      const choose = createRankers({ standard: 'lexical', hybridWeight, floor });
      const rankers = await Promise.all(RANKINGS.map(async (ranking) => choose({ ranking, query })));
      expect(rankers.map(({ ranking }) => ranking)).toEqual(names);
    }
  });

  test('waits for the provider no longer than the request does', async () => {
    const { signal } = new AbortController();
    const asked: unknown[] = [];
    const choose = createRankers({
      standard: 'hybrid',
      hybridWeight: 'auto',
      floor: (options) => {
        asked.push(options.signal);
        return floor();
      },
    });
    await choose({ query, signal });
    expect(asked).toEqual([signal]);
  });

  const words = ['wolf', 'sheep', 'orchard', 'river', 'bridge', 'window', 'garden', 'letter', 'candle'];
  const scoreFor = async (asked: string, found: readonly Scores[] = []) => {
    const choose = createRankers({ standard: 'hybrid', hybridWeight: 'auto', floor });
    return (await choose({ query: asked })).combineFor(found);
  };

  test('a hybrid score begins where unrelated texts are, and leans on the words of long queries', async () => {
    const short = await scoreFor(query);
    // Two terms: eight of nine parts are the similarity's.
    expect(short(0.75, 0)).toBeCloseTo((8 / 9) * 0.5, 12);
    expect(short(0.5, 0)).toBe(0);
    expect(short(0.2, 0.6)).toBeCloseTo((1 / 9) * 0.6, 12);
    expect(short(1, 1)).toBe(1);
    const long = await scoreFor(words.slice(0, 8).join(' '));
    expect(long(0.75, 0)).toBeCloseTo(0.25, 12);
    expect(long(0.75, 0.8)).toBeCloseTo(0.25 + 0.4, 12);
  });

  describe('where the nearest hold little of the words', () => {
    /** Twenty candidates: ten are near and ten hold the words, as much as said. */
    const found = (ofNearest: number) => [
      ...Array.from({ length: 10 }, () => ({ similarity: 0.9, share: ofNearest })),
      ...Array.from({ length: 10 }, () => ({ similarity: 0.6, share: 0.8 })),
    ];
    const weightWith = async (ofNearest: number, asked = words.slice(0, 8).join(' ')) =>
      (await scoreFor(asked, found(ofNearest)))(1, 0);

    test('the vectors count for less, down to 15 parts beside 100 of the words', async () => {
      expect(await weightWith(0)).toBeCloseTo(15 / 115, 12);
      const weights = [];
      for (const share of [0, 0.1, 0.2, 0.3, 0.4]) weights.push(await weightWith(share));
      expect(weights).toEqual([...new Set(weights)].sort((a, b) => a - b));
    });

    test('the weight of a query is as without them from a half of the words on', async () => {
      expect(await weightWith(0.4)).toBeCloseTo(0.5, 12);
      expect(await weightWith(0.8)).toBeCloseTo(0.5, 12);
    });

    test('a query of few terms still leans on the vectors', async () => {
      expect(await weightWith(0, 'wolf')).toBeGreaterThan(0.7);
    });

    test('the score is in [0, 1], and both scores count, whatever the candidates', async () => {
      const unit = fc.double({ min: 0, max: 1, noNaN: true });
      const pairs = fc.array(fc.record({ similarity: unit, share: unit }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(pairs, fc.integer({ min: 1, max: 9 }), async (candidates, terms) => {
          const combine = await scoreFor(words.slice(0, terms).join(' '), candidates);
          expect(combine(1, 1)).toBe(1);
          expect(combine(0, 0)).toBe(0);
          expect(combine(1, 0)).toBeGreaterThan(0.05);
          expect(combine(0, 1)).toBeGreaterThan(0.01);
        }),
      );
    });
  });

  test('without the provider no hybrid score is guessed', async () => {
    const away = () => Promise.reject(new Error('away'));
    const choose = createRankers({ standard: 'lexical', hybridWeight: 'auto', floor: away });
    await expect(choose({ ranking: 'hybrid', query })).rejects.toThrow('away');
    expect((await choose({ query })).ranking).toBe('lexical');
  });
});
