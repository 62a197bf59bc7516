import { expect, test } from '@jest/globals';
import { runHostile } from './run.js';

/** A machine that runs other tests beside this one is slower than one that serves. */
const SLOWNESS = 5;

test('no input hangs, fills or starves the service, and each is answered as the contract says', async () => {
  const results = await runHostile({ isShort: true, slowness: SLOWNESS });
  const wrong = results.filter((each) => each.wrong !== null);
  expect(wrong).toEqual([]);
  expect(results.length).toBeGreaterThan(50);
}, 900_000);
