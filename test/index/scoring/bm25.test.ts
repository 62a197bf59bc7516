import { describe, expect, test } from '@jest/globals';
import { coveredShare, inverseDocumentFrequency, lengthDamping } from '../../../src/index/scoring/score.js';
import { packTerms } from '../../../src/index/scoring/packed-terms.js';

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
