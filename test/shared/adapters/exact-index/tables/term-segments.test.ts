import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTermSegments } from '../../../../../src/shared/adapters/exact-index/tables/term-segments.js';
import { coveredShare } from '../../../../../src/shared/search/bm25.js';
import { packTerms } from '../../../../../src/shared/text/packed-terms.js';

const TERMS = [0, 1, 255, 256, 65_536, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1];

/** A text of few terms, some of them repeated more often than a packed count tells. */
const chunk = fc
  .uniqueArray(fc.constantFrom(...TERMS), { maxLength: 5 })
  .chain((terms) =>
    fc
      .array(fc.constantFrom(1, 2, 3, 255, 400), { minLength: terms.length, maxLength: terms.length })
      .map((counts) => new Map(terms.map((term, i) => [term, counts[i] ?? 1]))),
  )
  .map((counts) => packTerms({ counts, length: [...counts.values()].reduce((sum, n) => sum + n, 0) }));

/** Many chunks in free slots, or every so many-th of what is there taken away. */
const step = fc.oneof(
  fc.record({ type: fc.constant('add' as const), count: fc.integer({ min: 1, max: 1_500 }) }),
  fc.record({ type: fc.constant('remove' as const), every: fc.integer({ min: 1, max: 5 }) }),
);

function open() {
  const kept = new Map<number, Uint8Array>();
  const free: number[] = [];
  let next = 0;
  const segments = createTermSegments((slot) => kept.get(slot) ?? null);
  return {
    kept,
    segments,
    add: (packed: Uint8Array) => {
      const slot = free.pop() ?? next++;
      kept.set(slot, packed);
      segments.add(slot, packed);
    },
    remove: (slots: readonly number[]) => {
      segments.remove(slots);
      for (const slot of slots) kept.delete(slot);
      free.push(...slots);
    },
  };
}

const words = {
  terms: Uint32Array.of(0, 255, 256, 2 ** 31, 2 ** 32 - 1),
  weights: Float64Array.of(0.1, 0.3, 0.2, 0.25, 0.15),
  averageLength: 7,
};

describe('segments of terms', () => {
  test('tell every chunk that holds a term, once, with its very score, whatever came and went', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { minLength: 1, maxLength: 40 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        (chunks, steps) => {
          const { kept, segments, add, remove } = open();
          const compare = () => {
            const counts = new Uint8Array(words.terms.length);
            const expected = [...kept].flatMap(([slot, packed]): [number, number][] => {
              const share = coveredShare(packed, words, counts);
              return share > 0 ? [[slot, share]] : [];
            });
            const told: [number, number][] = [];
            segments.score(words, (slot, share) => told.push([slot, share]));
            expect(new Map(told)).toEqual(new Map(expected));
            expect(told).toHaveLength(expected.length);
          };
          for (const each of steps) {
            if (each.type === 'add')
              for (let i = 0; i < each.count; i += 1) add(chunks[i % chunks.length] ?? new Uint8Array());
            else remove([...kept.keys()].filter((_, i) => i % each.every === 0));
            compare();
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('hold nothing of what has no terms', () => {
    const { segments, add, remove } = open();
    add(new Uint8Array());
    remove([0]);
    segments.score(words, () => {
      throw new Error('nothing was added');
    });
  });
});
