import { describe, expect, test } from '@jest/globals';
import { analyzeText } from '../../../src/shared/text/analyze-text.js';
import { hashTerm } from '../../../src/shared/text/hash-term.js';
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
