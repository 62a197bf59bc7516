import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noStatistics, type TermWeights } from '../../../src/index/index.js';
import {
  coveredShare,
  createSectionShare,
  inverseDocumentFrequency,
  leastOwnShare,
  lengthDamping,
  scoreWithSection,
  SECTION_CHUNKS,
  sectionOf,
} from '../../../src/index/scoring/score.js';
import { weighQuery } from '../../../src/shared/search/ranking.js';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';
import { scoresOfDocument } from '../../support/section-scores.js';

describe('the share of a query that a chunk covers', () => {
  const weights = { terms: Uint32Array.of(3, 5), weights: Float64Array.of(0.25, 0.75), averageLength: 10 };
  const share = (counts: readonly (readonly [number, number])[], length: number) =>
    coveredShare(packTerms({ counts: new Map(counts), length }), weights, new Uint8Array(2));

  test('is the sum of what its terms weigh, each saturating, as BM25 has it', () => {
    // With an average length, a term counts as `tf / (tf + 1.2)`.
    expect(share([[3, 1]], 10)).toBeCloseTo(0.25 / 2.2, 12);
    expect(share([[5, 2]], 10)).toBeCloseTo((0.75 * 2) / 3.2, 12);
    expect(
      share(
        [
          [3, 1],
          [5, 2],
          [9, 4],
        ],
        10,
      ),
    ).toBeCloseTo(0.25 / 2.2 + (0.75 * 2) / 3.2, 12);
    expect(share([[9, 4]], 10)).toBe(0);
  });

  test('falls with the length of the chunk, of which three quarters count', () => {
    expect(lengthDamping(10, 10)).toBeCloseTo(1.2, 12);
    expect(lengthDamping(20, 10)).toBeCloseTo(1.2 * 1.75, 12);
    expect(lengthDamping(0, 10)).toBeCloseTo(0.3, 12);
    expect(share([[3, 1]], 20)).toBeCloseTo(0.25 / (1 + 2.1), 12);
  });

  test('weighs a term by how few of all chunks hold it, and never below 0', () => {
    expect(inverseDocumentFrequency(1, 10)).toBeCloseTo(Math.log(1 + 9.5 / 1.5), 12);
    expect(inverseDocumentFrequency(10, 10)).toBeCloseTo(Math.log(1 + 0.5 / 10.5), 12);
  });
});

const packed = (text: string) => packTerms(analyzeText(text));
const ownShare = (text: string, weights: TermWeights) =>
  coveredShare(packed(text), weights, new Uint8Array(weights.terms.length));
const wolfSheep = weighQuery('wolf sheep', noStatistics);

describe('the score of a chunk with its section', () => {
  const text = fc
    .array(fc.constantFrom('wolf', 'sheep', 'orchard', 'the', 'granite'), { minLength: 1, maxLength: 12 })
    .map((words) => words.join(' '));
  const texts = fc.array(text, { minLength: 1, maxLength: 20 });

  test('is to the last digit that of its definition, whatever was computed before', () => {
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom('wolf sheep', 'granite', 'the', 'wolf wolf orchard'),
        (all, query) => {
          const weights = weighQuery(query, noStatistics);
          const shareOf = createSectionShare(weights);
          const chunks = all.map(packed);
          const scores = all.map((each, number) => {
            const first = sectionOf(number);
            return scoreWithSection(
              ownShare(each, weights),
              shareOf(chunks.slice(first, first + SECTION_CHUNKS)),
            );
          });
          expect(scores).toEqual(scoresOfDocument(chunks, weights).map(({ score }) => score));
        },
      ),
    );
  });

  test('is what it scores by itself where it is alone', () => {
    fc.assert(
      fc.property(text, (alone) => {
        const own = ownShare(alone, wolfSheep);
        expect(scoreWithSection(own, createSectionShare(wolfSheep)([packed(alone)]))).toBe(own);
      }),
    );
  });

  test('counts the chunks of its own section alone', () => {
    expect([0, 7, 8, 15, 16].map(sectionOf)).toEqual([0, 0, 8, 8, 16]);
  });

  test('is 0 where it holds none of the words, and more the more is said around it', () => {
    const [none, little, much] = ['orchard', 'orchard sheep', 'sheep sheep'].map((around) =>
      scoresOfDocument(['granite', 'wolf', around].map(packed), wolfSheep).map(({ score }) => score),
    );
    expect([none?.[0], little?.[0], much?.[0]]).toEqual([0, 0, 0]);
    expect(little?.[1]).toBeGreaterThan(none?.[1] ?? NaN);
    expect(much?.[1]).toBeGreaterThan(little?.[1] ?? NaN);
  });

  test('is reached by no chunk that scores less by itself, even where it is added up in another order', () => {
    expect(leastOwnShare(1)).toBeCloseTo(1, 8);
    expect(leastOwnShare(0.75)).toBeCloseTo(0.5, 8);
    expect(leastOwnShare(0.5)).toBe(0);
    expect(leastOwnShare(0.2)).toBe(0);
    // The highest that a section can score.
    for (const own of [0.1, 0.3, 0.7, 1])
      expect(own - 1e-12).toBeGreaterThanOrEqual(leastOwnShare(scoreWithSection(own, 1)));
  });

  test('keeps within 0 and 1, and tells the least that a chunk scores by itself', () => {
    fc.assert(
      fc.property(texts, (all) => {
        for (const { own, score } of scoresOfDocument(all.map(packed), wolfSheep)) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
          expect(own).toBeGreaterThanOrEqual(leastOwnShare(score));
        }
      }),
    );
  });
});
