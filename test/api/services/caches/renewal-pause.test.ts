import { expect, test } from '@jest/globals';
import { createRenewalPause } from '../../../../src/api/services/caches/renewal-pause.js';

test('a lost state is made again once in ten minutes, each cache by itself', () => {
  let now = 0;
  const pause = createRenewalPause(() => now);
  expect(pause.mayBegin('one')).toBe(true);
  expect(pause.mayBegin('one')).toBe(false);
  expect(pause.mayBegin('other')).toBe(true);
  now = 599_999;
  expect(pause.mayBegin('one')).toBe(false);
  now = 600_000;
  expect(pause.mayBegin('one')).toBe(true);
});
