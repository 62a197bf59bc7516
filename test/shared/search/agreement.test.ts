import { expect, test } from '@jest/globals';
import { agreementOf } from '../../../src/shared/search/ranking.js';
import { processorMilliseconds } from '../../support/processor-time.js';

/** Candidates in the order of their similarity, with these scores by words. */
const withShares = (...shares: readonly number[]) =>
  shares.map((share, i) => ({ similarity: 1 - i / 1_000, share }));
const ten = (share: number) => Array.from({ length: 10 }, () => share);

test('the nearest agree with the words as far as they hold what the best by words hold', () => {
  expect(agreementOf(withShares(...ten(0.6), ...ten(0.1)))).toBe(1);
  expect(agreementOf(withShares(...ten(0.2), ...ten(0.8)))).toBeCloseTo(0.25, 12);
  expect(agreementOf(withShares(...ten(0), ...ten(0.8)))).toBe(0);
  // Low scores tell as much as high ones.
  expect(agreementOf(withShares(...ten(0.01), ...ten(0.04)))).toBeCloseTo(0.25, 12);
});

test('ten of each kind are compared, however many there are', () => {
  const few = withShares(...ten(0.2), ...ten(0.8));
  const many = withShares(...ten(0.2), ...ten(0.8), ...Array.from({ length: 400 }, () => 0.1));
  expect(agreementOf(many)).toBe(agreementOf(few));
});

test('nothing disagrees where there are ten candidates or less, or none holds a word', () => {
  expect(agreementOf([])).toBe(1);
  expect(agreementOf(withShares(0, 0, 0.7))).toBe(1);
  expect(agreementOf(withShares(...ten(0), ...ten(0)))).toBe(1);
});

test('the order of the candidates says nothing, even of those that are equally similar', () => {
  const equal = Array.from({ length: 30 }, (_, i) => ({ similarity: 0.5, share: i / 30 }));
  const expected = agreementOf(equal);
  expect(agreementOf(equal.toReversed())).toBe(expected);
  expect(agreementOf([...equal.slice(15), ...equal.slice(0, 15)])).toBe(expected);
});

test('a thousand candidates are compared within five milliseconds of the processor', () => {
  const many = Array.from({ length: 1_000 }, (_, i) => {
    return { similarity: ((i * 7_919) % 1_000) / 1_000, share: ((i * 104_729) % 1_000) / 1_000 };
  });
  const started = processorMilliseconds();
  for (let i = 0; i < 20; i += 1) agreementOf(many);
  expect(processorMilliseconds() - started).toBeLessThan(20 * 5);
});
