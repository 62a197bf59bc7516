import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  analyzeText,
  hashTerm,
  packedLength,
  packTerms,
  readCounts,
  unpackTerms,
} from '../../../src/shared/text/terms.js';
import { processorTimeOf } from '../../support/processor-time.js';

function termsOf(text: string): number[] {
  return [...analyzeText(text).counts.keys()].sort((a, b) => a - b);
}

function expectSame(one: string, other: string): void {
  expect(termsOf(one).length).toBeGreaterThan(0);
  expect(termsOf(one)).toEqual(termsOf(other));
}

describe('terms of a text', () => {
  test('are the same for forms, cases and widths of a word', () => {
    expectSame('Retrieving retrieved', 'ＲＥＴＲＩＥＶＥ retrieve');
    expectSame('ﬁle', 'files');
    expectSame('the patient’s vitamin', "patients' vitamins");
    expectSame('Regierungen', 'Regierungs');
  });

  test('leave English stop words and contractions out', () => {
    expect(analyzeText("It isn't what we've been doing, and that can't be it").length).toBe(0);
  });

  test('are counted with their repetitions', () => {
    const { length, counts } = analyzeText('wolf, wolves and a wolf: 42 of the sheep');
    expect(length).toBe(5);
    expect(counts.get(hashTerm('wolf'))).toBe(2);
    expect(counts.get(hashTerm('42'))).toBe(1);
  });

  test('forgive accents of long words and keep those of short ones', () => {
    expectSame('información über Größenverhältnisse', 'informacion über Grossenverhaltnisse');
    expect(termsOf('año')).not.toEqual(termsOf('ano'));
  });

  test('are overlapping pairs in scripts without spaces', () => {
    expect(termsOf('黑豹队')).toEqual([hashTerm('黑豹'), hashTerm('豹队')].sort((a, b) => a - b));
    expect(analyzeText('ประเทศไทย').length).toBe(8);
    expect(analyzeText('猫').counts.get(hashTerm('猫'))).toBe(1);
    expect(termsOf('GPU显卡')).toEqual([hashTerm('gpu'), hashTerm('显卡')].sort((a, b) => a - b));
  });

  test('forgive points, spellings of a letter and the article in Arabic', () => {
    expectSame('المَدْرَسَة', 'مدرسه');
    expectSame('والكتاب', 'كتاب');
  });

  test('name an identifier by its whole and by its parts', () => {
    const terms = analyzeText('parseHttpHeader').counts;
    for (const part of ['pars', 'http', 'header', 'parsehttp']) expect(terms.has(hashTerm(part))).toBe(true);
    expectSame('parse_http_header', 'parse http header');
  });

  test('keep every digit of numbers and codes', () => {
    expect(termsOf('1234567890123')).not.toEqual(termsOf('1234567890124'));
    expect(termsOf('ab12cd34ef56a')).not.toEqual(termsOf('ab12cd34ef56b'));
  });

  test.each([
    ['one letter', 'a'.repeat(1_000_000)],
    ['combining marks', `a${'\u0316\u0301'.repeat(500_000)}`],
    ['apostrophes', "a'".repeat(500_000)],
    ['capitals', 'aB'.repeat(500_000)],
    ['Han', '漢字'.repeat(250_000)],
    ['expanding ligatures', '\ufdfa'.repeat(100_000)],
    ['words that nearly have endings', `${'y'.repeat(38)}ed `.repeat(20_000)],
    ['vowels and consonants', `${'ab'.repeat(19)}x `.repeat(20_000)],
  ])('are found in time linear in a long run of %s', async (_name, text) => {
    // Up to a second; what grows with the square of a million characters takes many minutes.
    expect(await processorTimeOf(() => analyzeText(text))).toBeLessThan(20_000);
  });
});

/** Occurrences of `terms`, which ascend. */
function countsOf(packed: Uint8Array, terms: readonly number[]): number[] {
  const counts = new Uint8Array(terms.length).fill(77);
  readCounts(packed, Uint32Array.from(terms), counts);
  return [...counts];
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
  });
});
