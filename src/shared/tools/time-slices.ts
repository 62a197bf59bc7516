import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MILLISECONDS = 4;

/**
 * Makes a function for a loop to wait for before each of its steps: when they have taken some milliseconds, others have their
 * turn of the event loop.
 */
export function createTimeSlices(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since <= SLICE_MILLISECONDS) return;
    await nextTurn();
    since = performance.now();
  };
}
