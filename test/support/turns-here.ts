import { processorMilliseconds } from './processor-time.js';

export interface Turns {
  readonly count: number;
  /** Milliseconds of the processor that the longest took, and all of them together. */
  readonly longest: number;
  readonly total: number;
}

/** Measures the turns of this process's own event loop until it is asked what it saw. */
export function watchTurns(): { stop(): Turns } {
  const began = processorMilliseconds();
  let [count, longest, last, isOver] = [0, 0, began, false];
  const endTurn = () => {
    const now = processorMilliseconds();
    longest = Math.max(longest, now - last);
    last = now;
    count += 1;
    if (!isOver) setImmediate(endTurn);
  };
  setImmediate(endTurn);
  return {
    stop: () => {
      isOver = true;
      return { count, longest, total: processorMilliseconds() - began };
    },
  };
}
