import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortInSlices } from '../../../src/shared/tools/time-slices.js';

test('items are sorted as the language sorts them, equal ones in their order', async () => {
  const items = fc
    .array(fc.tuple(fc.nat(5), fc.nat()), { maxLength: 60 })
    .map((few) => Array.from({ length: 60 }, () => few).flat());
  await fc.assert(
    fc.asyncProperty(items, async (all) => {
      const compare = (a: readonly number[], b: readonly number[]) => (a[0] ?? 0) - (b[0] ?? 0);
      expect(await sortInSlices(all, compare)).toEqual(all.toSorted(compare));
    }),
    { numRuns: 20 },
  );
});

test('a hundred thousand items leave time to others', async () => {
  const items = Array.from({ length: 100_000 }, (_, i) => String((i * 7919) % 100_003));
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 1);
  const sorted = await sortInSlices(items, (a, b) => (a < b ? -1 : 1));
  clearInterval(ticking);
  expect(sorted[0]).toBe('0');
  expect(turns).toBeGreaterThan(5);
});
