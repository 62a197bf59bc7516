import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortTerms } from '../../../src/index/postings/build-segment.js';

function sorted(terms: Uint32Array): Uint32Array {
  const steps = sortTerms(terms);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

test('sorts as the native sort does, and leaves what it was given', () => {
  const term = fc.oneof(
    fc.nat(3),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.nat(5).map((n) => n * 2 ** 29),
  );
  fc.assert(
    fc.property(fc.uniqueArray(term, { maxLength: 300 }), (terms) => {
      const given = Uint32Array.from(terms);
      expect(sorted(given)).toEqual(Uint32Array.from(terms).sort());
      expect([...given]).toEqual(terms);
    }),
  );
});
