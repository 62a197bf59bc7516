import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createGivingWay } from '../../../src/shared/fair-scheduling/giving-way.js';
import { until } from '../../support/until.js';

test('a turn gives way once it has lasted long enough and another waits, and not before', async () => {
  let isWanted = true;
  const early = createGivingWay({ milliseconds: 60_000, isWanted: () => isWanted });
  const turn = createGivingWay({ milliseconds: 20, isWanted: () => isWanted });
  isWanted = false;
  await sleep(300);
  expect(turn.signal.aborted).toBe(false);
  isWanted = true;
  await until(() => turn.signal.aborted);
  expect([turn.gaveWay, early.gaveWay, early.signal.aborted]).toEqual([true, false, false]);
  early.clear();
});

test('a turn that was ended did not give way', async () => {
  const ending = new AbortController();
  const turn = createGivingWay({ milliseconds: 20, isWanted: () => true, signal: ending.signal });
  ending.abort(new Error('stopped'));
  await sleep(50);
  expect(turn.signal.reason).toEqual(new Error('stopped'));
  expect(turn.gaveWay).toBe(false);
  const over = createGivingWay({ milliseconds: 20, isWanted: () => true });
  over.clear();
  await sleep(50);
  expect(over.signal.aborted).toBe(false);
});
