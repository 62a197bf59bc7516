import { UnavailableError } from './errors.js';

/** Who waits for a turn, and until when. */
export interface TurnRequest {
  /** Those who wait take turns by this, however many times one of them waits. */
  readonly by?: string;
  /** Aborts the wait: a request that nobody waits for takes no turn. */
  readonly signal?: AbortSignal | undefined;
}

export interface Turns {
  /** @returns what ends the turn @throws UnavailableError when too many wait; the signal's reason when it aborts */
  enter(request?: TurnRequest): Promise<() => void>;
  /** Runs a task in a turn. */
  run<Result>(task: () => Promise<Result>, request?: TurnRequest): Promise<Result>;
  figures(): { readonly running: number; readonly waiting: number };
}

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Lets in at most `most` at once; the others wait, and whoever asked for them comes in turn. Where more than
 * `mostWaiting` wait, the newest of the one who has the most of them is refused, so that nobody fills the queue of others.
 */
export function createTurns(
  most: number,
  { mostWaiting = Infinity, name = 'queue' }: { mostWaiting?: number; name?: string } = {},
): Turns {
  let running = 0;
  let waiting = 0;
  // The first is whose turn it is next: a map keeps the order of insertion.
  const lines = new Map<string, Set<Waiter>>();

  const leaveLine = (by: string, waiter: Waiter) => {
    const line = lines.get(by);
    if (!line?.delete(waiter)) return;
    waiting -= 1;
    if (line.size === 0) lines.delete(by);
  };

  const letNextIn = () => {
    for (const [by, line] of lines) {
      for (const waiter of line) {
        leaveLine(by, waiter);
        // To the end: the others come first now.
        if (lines.delete(by)) lines.set(by, line);
        waiter.enter();
        return;
      }
    }
    running -= 1;
  };

  const refuseNewest = () => {
    let longest: [string, Set<Waiter>] | null = null;
    for (const entry of lines) if (!longest || entry[1].size > longest[1].size) longest = entry;
    const newest = longest && [...longest[1]].at(-1);
    if (!longest || !newest) return;
    leaveLine(longest[0], newest);
    newest.refuse(new UnavailableError(name));
  };

  const leaveOnce = () => {
    let isOver = false;
    return () => {
      if (!isOver) letNextIn();
      isOver = true;
    };
  };

  const wait = ({ by = '', signal }: TurnRequest) =>
    new Promise<void>((resolve, reject) => {
      const settle = () => {
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        enter: () => {
          settle();
          resolve();
        },
        refuse: (error) => {
          settle();
          reject(error instanceof Error ? error : new Error('aborted', { cause: error }));
        },
      };
      const abort = () => {
        leaveLine(by, waiter);
        waiter.refuse(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const line = lines.get(by) ?? new Set();
      lines.set(by, line.add(waiter));
      waiting += 1;
      if (waiting > mostWaiting) refuseNewest();
    });

  const enter = async (request: TurnRequest = {}) => {
    request.signal?.throwIfAborted();
    // Whoever ends passes its place on.
    if (running < most) running += 1;
    else await wait(request);
    return leaveOnce();
  };

  return {
    enter,
    run: async (task, request) => {
      const leave = await enter(request);
      try {
        return await task();
      } finally {
        leave();
      }
    },
    figures: () => ({ running, waiting }),
  };
}
