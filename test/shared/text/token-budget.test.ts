import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countLongText, cutToTokens } from '../../../src/shared/text/token-budget.js';
import { countTokens } from '../../../src/shared/text/token-count.js';
import { anyCharacter } from '../../support/any-character.js';
import { processorMilliseconds } from '../../support/processor-time.js';

const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.lorem({ maxCount: 60 }),
);

describe('cutting to tokens', () => {
  test('gives a start of the text within the limit, and all of it when it fits', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 200 }), (text, maximum) => {
        const cut = cutToTokens(text, maximum, countTokens);
        expect(text.startsWith(cut)).toBe(true);
        expect(countTokens(cut)).toBeLessThanOrEqual(maximum);
        if (countTokens(text) <= maximum) expect(cut).toBe(text);
      }),
      { examples: [['tring', 1]] },
    );
  });

  test.each(['👍🏽', '👩‍👩‍👧', 'ạ̈', '𠮷'])('never cuts through %s', (character) => {
    for (let maximum = 1; maximum < 40; maximum += 1) {
      const cut = cutToTokens(character.repeat(20), maximum, countTokens);
      expect(cut.length % character.length).toBe(0);
    }
  });

  test('uses nearly all of the limit', () => {
    const text = 'Some plain sentences of a plain text. '.repeat(3000);
    expect(countTokens(cutToTokens(text, 8192, countTokens))).toBeGreaterThan(8192 - 129);
    expect(countTokens(cutToTokens(text, 40, countTokens))).toBe(40);
  });
});

test.each([
  ['marks', `a${'\u0301'.repeat(100_000)}`],
  ['joiners', '\u200d'.repeat(100_000)],
  ['half pairs', '\ud800'.repeat(100_000)],
  ['one letter', 'a'.repeat(100_000)],
])('a run of %s is cut and counted in good time', async (_kind, text) => {
  const start = processorMilliseconds();
  expect(countTokens(cutToTokens(text, 2000, countTokens))).toBeLessThanOrEqual(2000);
  expect(await countLongText(text, countTokens)).toBeGreaterThan(2000);
  expect(processorMilliseconds() - start).toBeLessThan(15_000);
});

test('counting a long text in slices agrees with counting it whole, and lets others run meanwhile', async () => {
  const text = 'Une phrase, and 12345 more; 漢字かな. '.repeat(8000);
  let turns = 0;
  const count = () => {
    turns += 1;
    handle = setImmediate(count);
  };
  let handle = setImmediate(count);
  const counted = await countLongText(text, countTokens);
  clearImmediate(handle);
  expect(Math.abs(counted - countTokens(text))).toBeLessThanOrEqual(10);
  expect(turns).toBeGreaterThanOrEqual(5);
});
