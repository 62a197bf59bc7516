import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { createGivingWay, GaveWayError } from '../../../src/shared/fair-scheduling/giving-way.js';
import { useFakeClock } from '../../support/fake-clock.js';

const { pass } = useFakeClock();

test('a turn gives way once it has lasted long enough and another waits, and not before', async () => {
  const turn = createGivingWay({ milliseconds: 5_000, isWanted: () => true });
  await pass(4_999);
  expect([turn.gaveWay, turn.signal.aborted]).toEqual([false, false]);
  await pass(1);
  expect([turn.gaveWay, turn.signal.aborted]).toEqual([true, true]);
  expect(turn.signal.reason).toBeInstanceOf(GaveWayError);
});

test('a turn that has lasted long enough looks every fifth of a second whether another waits', async () => {
  let [isWanted, looked] = [false, 0];
  const turn = createGivingWay({
    milliseconds: 1_000,
    isWanted: () => {
      looked += 1;
      return isWanted;
    },
  });
  await pass(2_000);
  expect(looked).toBe(6);
  expect(turn.signal.aborted).toBe(false);
  isWanted = true;
  await pass(199);
  expect(turn.signal.aborted).toBe(false);
  await pass(1);
  expect(turn.signal.aborted).toBe(true);
  await pass(1_000);
  expect(looked).toBe(7);
});

test('a turn that was ended did not give way, and ended for the reason of its signal', async () => {
  const ending = new AbortController();
  const turn = createGivingWay({ milliseconds: 20, isWanted: () => true, signal: ending.signal });
  ending.abort(new Error('stopped'));
  expect(turn.signal.reason).toEqual(new Error('stopped'));
  await pass(50);
  expect(turn.gaveWay).toBe(false);
});

test('a turn whose signal was aborted before is over at once, and looks for nobody', async () => {
  const turn = createGivingWay({
    milliseconds: 20,
    isWanted: () => true,
    signal: AbortSignal.abort(new Error('stopped')),
  });
  expect(turn.signal.reason).toEqual(new Error('stopped'));
  await pass(50);
  expect(turn.gaveWay).toBe(false);
});

test('once its watch has ended, a turn gives way to nobody and holds on to no signal', async () => {
  const ending = new AbortController();
  const { signal } = ending;
  const turns = [20, 30].map((milliseconds) =>
    createGivingWay({ milliseconds, isWanted: () => milliseconds === 20, signal }),
  );
  expect(getEventListeners(signal, 'abort')).toHaveLength(2);
  for (const turn of turns) turn.clear();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  ending.abort(new Error('stopped'));
  await pass(1_000);
  expect(turns.map((turn) => turn.signal.aborted)).toEqual([false, false]);
});

test('a watch that ends while it looks from time to time looks no more', async () => {
  let looked = 0;
  const turn = createGivingWay({
    milliseconds: 0,
    isWanted: () => {
      looked += 1;
      return false;
    },
  });
  await pass(500);
  const before = looked;
  turn.clear();
  await pass(5_000);
  expect([before, looked]).toEqual([3, 3]);
});
