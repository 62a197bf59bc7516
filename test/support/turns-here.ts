import { processorMilliseconds } from './processor-time.js';

export interface Turns {
  readonly count: number;
  /** Milliseconds of the processor that the longest took, and all of them together. */
  readonly longest: number;
  readonly total: number;
}

/** The time that a piece of work takes of this process's own event loop. */
export async function turnsOf(work: () => Promise<unknown>): Promise<Turns> {
  const began = processorMilliseconds();
  let [count, longest, last] = [0, 0, began];
  let next: NodeJS.Immediate;
  const endTurn = () => {
    const now = processorMilliseconds();
    longest = Math.max(longest, now - last);
    last = now;
    count += 1;
    next = setImmediate(endTurn);
  };
  next = setImmediate(endTurn);
  try {
    await work();
  } finally {
    clearImmediate(next);
  }
  return {
    count,
    longest: Math.max(longest, processorMilliseconds() - last),
    total: processorMilliseconds() - began,
  };
}
