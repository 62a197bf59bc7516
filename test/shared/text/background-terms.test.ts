import { expect, test } from '@jest/globals';
import { backgroundRate } from '../../../src/shared/text/background-terms.js';
import { makeBackgroundRates } from '../../../src/shared/text/background-words.js';

test('the rates of the build are those that the words make', () => {
  const made = [...makeBackgroundRates()];
  expect(made.length).toBeGreaterThan(5_000);
  expect(made.map(([term]) => [term, backgroundRate(term)])).toEqual(made);
  expect(backgroundRate(-1)).toBe(0);
});
