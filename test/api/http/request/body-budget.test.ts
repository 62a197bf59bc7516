import { expect, test } from '@jest/globals';
import { createBodyBudget, type BodyBudget } from '../../../../src/api/http/request/body-budget.js';

const KIB = 1_024;
const MAX_BYTES = 1_024 * KIB;

/** A body that is idle at once. Answers whether it was ended. */
function arriving(budget: BodyBudget, holder: string, bytes: number) {
  const claim = budget.claim(holder);
  let isEnded = false;
  claim.grow(bytes);
  claim.whileReading(() => (isEnded = true));
  return { claim, isEnded: () => isEnded };
}

test('a small idle body stays when a large one needs room, since its end would make none', () => {
  const budget = createBodyBudget({ maxBytes: MAX_BYTES, shareBytes: MAX_BYTES / 2, idleMilliseconds: -1 });
  const small = arriving(budget, 'a', 16 * KIB);
  const large = arriving(budget, 'b', MAX_BYTES / 2);
  const other = arriving(budget, 'c', MAX_BYTES / 2);
  budget.claim('d').grow(MAX_BYTES / 4);
  expect([small, large, other].map(({ isEnded }) => isEnded())).toEqual([false, true, false]);
  expect(() => {
    small.claim.grow(32 * KIB);
  }).not.toThrow();
});

test('a body of another caller stays when a share of one’s own is used up', () => {
  const budget = createBodyBudget({ maxBytes: MAX_BYTES, shareBytes: MAX_BYTES / 4, idleMilliseconds: -1 });
  const other = arriving(budget, 'a', MAX_BYTES / 4);
  const own = arriving(budget, 'b', MAX_BYTES / 4);
  budget.claim('b').grow(MAX_BYTES / 8);
  expect([other, own].map(({ isEnded }) => isEnded())).toEqual([false, true]);
});
