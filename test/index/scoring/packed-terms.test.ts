import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { hashTerm } from '../../../src/shared/text/hash-term.js';
import {
  isPacked,
  packedLength,
  packedSize,
  packedTerms,
  packTerms,
  readCounts,
  readTerms,
  unpackTerms,
} from '../../../src/index/scoring/packed-terms.js';

/** Occurrences of `terms`, which ascend. */
function countsOf(packed: Uint8Array, terms: readonly number[]): number[] {
  const counts = new Uint8Array(terms.length).fill(77);
  readCounts(packed, Uint32Array.from(terms), counts);
  return [...counts];
}

/** Every term with its count, in the order in which they are read. */
function entriesOf(packed: Uint8Array): (readonly [number, number])[] {
  const entries: (readonly [number, number])[] = [];
  readTerms(packed, (term, count) => entries.push([term, count]));
  return entries;
}

describe('packed terms', () => {
  test('hold what was packed, counts up to 255', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.nat(0xffffffff), fc.integer({ min: 1, max: 400 })), {
          selector: ([term]) => term,
        }),
        (entries) => {
          const length = entries.reduce((sum, [, count]) => sum + count, 0);
          const packed = packTerms({ length, counts: new Map(entries) });
          expect(packedLength(packed)).toBe(length);
          expect(unpackTerms(packed).length).toBe(length);
          expect(unpackTerms(packed).counts.size).toBe(entries.length);
          const ascending = entries.toSorted(([a], [b]) => a - b);
          expect(
            countsOf(
              packed,
              ascending.map(([term]) => term),
            ),
          ).toEqual(ascending.map(([, count]) => Math.min(255, count)));
          for (const [term, count] of entries) {
            expect(unpackTerms(packed).counts.get(term)).toBe(Math.min(255, count));
          }
        },
      ),
    );
  });

  test('are read one after another, ascending, each with its count', () => {
    const packed = packTerms({
      length: 310,
      counts: new Map([
        [4_000_000_000, 299],
        [70_000, 3],
        [0, 1],
        [5, 7],
      ]),
    });
    const entries = [
      [0, 1],
      [5, 7],
      [70_000, 3],
      [4_000_000_000, 255],
    ];
    expect(entriesOf(packed)).toEqual(entries);
    expect(packedTerms(packed)).toEqual(entries.map(([term]) => term));
    expect(packedSize(packed)).toBe(4);
  });

  test('are none where nothing was packed, or a text without terms', () => {
    for (const packed of [new Uint8Array(), packTerms({ length: 0, counts: new Map() })])
      expect([packedSize(packed), packedTerms(packed), entriesOf(packed)]).toEqual([0, [], []]);
  });

  test('have no count for a term that is not there', () => {
    const packed = packTerms({
      length: 2,
      counts: new Map([
        [5, 1],
        [4_000_000_000, 1],
      ]),
    });
    expect(countsOf(packed, [0, 4, 5, 6, 3_999_999_999, 4_000_000_000, 4_294_967_295])).toEqual([
      0, 0, 1, 0, 0, 1, 0,
    ]);
    expect(countsOf(packTerms({ length: 0, counts: new Map() }), [1])).toEqual([0]);
  });

  test('keep the layout that stored chunks have', () => {
    const packed = packTerms({
      length: 300,
      counts: new Map([
        [0x80000001, 299],
        [2, 1],
      ]),
    });
    expect([...packed]).toEqual([1, 44, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0x80, 1, 255]);
  });

  test('are read from a view at any offset', () => {
    const packed = packTerms(analyzeText('alpha beta'));
    const framed = new Uint8Array(packed.length + 3);
    framed.set(packed, 3);
    expect(countsOf(framed.subarray(3), [hashTerm('beta')])).toEqual([1]);
  });

  test('of another layout are refused', () => {
    expect(() => unpackTerms(Uint8Array.of(2, 0, 0, 0, 0))).toThrow('not packed terms');
    expect(() => countsOf(new Uint8Array(), [1])).toThrow('not packed terms');
    const packed = packTerms(analyzeText('alpha beta'));
    expect(isPacked(packed)).toBe(true);
    // Some of it is missing.
    for (const cut of [1, 4, 7]) {
      expect(isPacked(packed.subarray(0, cut))).toBe(false);
      expect(() => packedTerms(packed.subarray(0, cut))).toThrow('not packed terms');
    }
  });
});
