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

interface TurnLimits {
  /** As long as nobody else comes, one may have so many at once; and whoever has none goes before the limit of the others. */
  readonly mostAlone?: number;
  readonly mostWaiting?: number;
  readonly name?: string;
}

/** So long after somebody else came, one is not alone. */
const COMPANY_MILLISECONDS = 1_000;

/**
 * Lets in at most `most` at once; the others wait, and whoever asked for them comes in turn. Where more than
 * `mostWaiting` wait, the newest of the one who has the most of them is refused, so that nobody fills the queue of others.
 */
export function createTurns(
  most: number,
  { mostAlone = most, mostWaiting = Infinity, name = 'queue' }: TurnLimits = {},
): Turns {
  let running = 0;
  let waiting = 0;
  let latest: string | null = null;
  let companyUntil = 0;
  const runningOf = new Map<string, number>();
  // The first is whose turn it is next: a map keeps the order of insertion.
  const lines = new Map<string, Set<Waiter>>();

  const leaveLine = (by: string, waiter: Waiter) => {
    const line = lines.get(by);
    if (!line?.delete(waiter)) return;
    waiting -= 1;
    if (line.size === 0) lines.delete(by);
  };

  const mayEnter = (by: string) => {
    if (running < most) return true;
    if (mostAlone === most) return false;
    if (!runningOf.has(by)) return running < mostAlone + most;
    return running < mostAlone && performance.now() > companyUntil;
  };

  const count = (by: string, change: 1 | -1) => {
    running += change;
    const left = (runningOf.get(by) ?? 0) + change;
    if (left > 0) runningOf.set(by, left);
    else runningOf.delete(by);
  };

  const letNextIn = () => {
    for (const [by, line] of lines) {
      if (!mayEnter(by)) continue;
      for (const waiter of line) {
        leaveLine(by, waiter);
        // To the end: the others come first now.
        if (lines.delete(by)) lines.set(by, line);
        count(by, 1);
        waiter.enter();
        return true;
      }
    }
    return false;
  };

  const refuseNewest = () => {
    let longest: [string, Set<Waiter>] | null = null;
    for (const entry of lines) if (!longest || entry[1].size > longest[1].size) longest = entry;
    const newest = longest && [...longest[1]].at(-1);
    if (!longest || !newest) return;
    leaveLine(longest[0], newest);
    newest.refuse(new UnavailableError(name));
  };

  const leaveOnce = (by: string) => {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      count(by, -1);
      // More than one, where somebody has become alone.
      while (letNextIn());
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
    const { by = '' } = request;
    if (latest !== null && latest !== by) companyUntil = performance.now() + COMPANY_MILLISECONDS;
    latest = by;
    // Who waits comes first: whoever ends passes its place on.
    if (!lines.has(by) && mayEnter(by)) count(by, 1);
    else await wait(request);
    return leaveOnce(by);
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
