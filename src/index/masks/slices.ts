/** Work that is done one slice at a time. A call does a slice and answers whether all is done. */
type Work = (isTimeLeft: () => boolean) => boolean;

/**
 * Runs long work on the only thread in slices. Everything else runs between two slices, and owners with work waiting get one
 * slice after the other in turn, however much work each of them has.
 */
export interface Slices {
  /** Settles when the work is done; rejects with the error that it throws. */
  run(whose: string, work: Work): Promise<void>;
}

const SLICE_MILLISECONDS = 4;

interface Waiting {
  readonly work: Work;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createSlices(
  now: () => number = () => performance.now(),
  later: (run: () => void) => void = setImmediate,
): Slices {
  /** Waiting work by its owner. A map keeps the order of insertion, which is the order of the turns. */
  const queues = new Map<string, Waiting[]>();
  let isRunning = false;
  const turn = () => {
    takeTurn(queues, now);
    isRunning = queues.size > 0;
    if (isRunning) later(turn);
  };
  return {
    run: (whose, work) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(whose) ?? [];
        queue.push({ work, resolve, reject });
        queues.set(whose, queue);
        if (isRunning) return;
        isRunning = true;
        later(turn);
      }),
  };
}

/** Does one slice of the first work of the owner whose turn it is, who then goes to the end. */
function takeTurn(queues: Map<string, Waiting[]>, now: () => number): void {
  for (const [whose, queue] of queues) {
    const first = queue.at(0);
    queues.delete(whose);
    if (!first) continue;
    if (doSlice(first, now)) queue.shift();
    if (queue.length > 0) queues.set(whose, queue);
    return;
  }
}

/** @returns true if the work is done, or has failed */
function doSlice({ work, resolve, reject }: Waiting, now: () => number): boolean {
  const until = now() + SLICE_MILLISECONDS;
  try {
    if (!work(() => now() < until)) return false;
    resolve();
  } catch (error) {
    reject(error);
  }
  return true;
}
