import { expect, test } from '@jest/globals';
import { nextSlice } from '../../../src/shared/tools/time-slices.js';
import { leastOfThree } from '../../support/least-of-three.js';
import { turnsOf } from '../../support/turns-here.js';

/** Keeps the processor busy. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

async function workInSlices(): Promise<void> {
  for (let step = 0; step < 12; step += 1) {
    await nextSlice();
    work(1);
  }
}

test('many loops at once leave as much time to others as one', async () => {
  const longest = await leastOfThree(
    async () => (await turnsOf(() => Promise.all(Array.from({ length: 30 }, workInSlices)))).longest,
    40,
  );
  // Thirty slices of four milliseconds in one turn would be 120.
  expect(longest).toBeLessThan(40);
});
