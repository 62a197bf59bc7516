import { expect, test } from '@jest/globals';
import { pausedUntil } from '../../../src/shared/local-models/load-crashes.js';

const NOW = Date.UTC(2026, 0, 1);
const minutes = (crashes: number, at = NOW) => {
  const until = pausedUntil({ crashes, at, isLoading: false }, NOW);
  return until && (until.getTime() - NOW) / 60_000;
};

test('the pause after a crash while loading begins with the second, doubles, and is an hour at most', () => {
  expect([0, 1, 2, 3, 4, 7, 8, 2_000].map((crashes) => minutes(crashes))).toEqual([
    null,
    null,
    1,
    2,
    4,
    32,
    60,
    60,
  ]);
});

test('it ends, and a clock that was set back does not make it longer', () => {
  expect(minutes(2, NOW - 59_000)).toBeCloseTo(1 / 60);
  expect(minutes(2, NOW - 60_000)).toBeNull();
  expect(minutes(2, NOW + 86_400_000)).toBe(1);
});
