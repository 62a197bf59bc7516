import { afterEach, beforeEach, jest } from '@jest/globals';

/**
 * Lets time stand still in all tests of a file but for what they let pass. Promises go on, and so does what waits for the event
 * loop.
 */
export function useFakeClock(): { readonly pass: (milliseconds: number) => Promise<void> } {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  return {
    pass: async (milliseconds) => {
      await jest.advanceTimersByTimeAsync(milliseconds);
    },
  };
}
