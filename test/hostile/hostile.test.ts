import { expect, test } from '@jest/globals';
import { runHostile } from './run.js';

test('no input hangs, fills or starves the service, and each is answered as the contract says', async () => {
  const results = await runHostile({ isShort: true, slowness: 5 });
  const wrong = results.filter((each) => each.wrong !== null);
  expect(wrong).toEqual([]);
  expect(results.length).toBeGreaterThan(50);
}, 3_600_000);
