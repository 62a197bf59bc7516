import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createKnnCollector } from '../../../src/index/vectors/knn-collector.js';

interface Offer {
  readonly score: number;
  readonly tie: number;
}

/** Few values, so that many are equal. */
const offer = fc.record({ score: fc.integer({ min: -3, max: 3 }), tie: fc.integer({ min: 0, max: 3 }) });

/** Later slots go first where all else is equal: an order that keeping the given one would not give. */
const collector = createKnnCollector((a, b) => b - a);

/** Offers in steps, each only slots that may still be among the best, as the kernel does. */
function select(offers: readonly Offer[], { limit, step }: { limit: number; step: number }): number[] {
  collector.begin(limit);
  for (const [slot, { score, tie }] of offers.entries()) {
    if (slot % step === 0) collector.tighten();
    if (score > collector.minScore || (score === collector.minScore && tie <= collector.maxTie))
      collector.collect(slot, score, tie);
  }
  const { slots, scores } = collector.take();
  expect([...scores]).toEqual([...slots].map((slot) => offers[slot]?.score));
  return [...slots];
}

function bestOf(offers: readonly Offer[], limit: number): number[] {
  const sorted = [...offers.entries()].sort(
    ([slotA, a], [slotB, b]) => b.score - a.score || a.tie - b.tie || slotB - slotA,
  );
  return sorted.slice(0, limit).map(([slot]) => slot);
}

describe('a collector', () => {
  test('takes the best in order, whatever ties there are and however often it is tightened', () => {
    fc.assert(
      fc.property(
        ...([fc.array(offer, { maxLength: 200 }), fc.nat(40), fc.integer({ min: 1, max: 60 })] as const),
        (offers, limit, step) => {
          expect(select(offers, { limit, step })).toEqual(bestOf(offers, limit));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('takes the best of far more than it has room for', () => {
    const random = Array.from({ length: 50_000 }, () => ({ score: Math.fround(Math.random()), tie: 0 }));
    const equal = random.map(() => ({ score: 0, tie: 0 }));
    const rising = random.map((_, i) => ({ score: i, tie: 0 }));
    for (const offers of [random, equal, rising]) {
      for (const step of [1_000, Infinity])
        expect(select(offers, { limit: 400, step })).toEqual(bestOf(offers, 400));
    }
  });
});
