import { toError } from '../errors.js';
import type { DecayedUsage } from './decayed-usage.js';

/** The requests that wait for a turn: one line for each caller, and the callers in turn. */
export interface WaitingLines {
  /** The number of requests in all lines. */
  waiting: number;
  /** The lines by caller. The first line belongs to the caller whose turn is next, since a map keeps the order of insertion. */
  readonly lines: Map<string, Set<Waiter>>;
}

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

export function createWaitingLines(): WaitingLines {
  return { waiting: 0, lines: new Map() };
}

/** Joins the line of a caller at once. Resolves when it is this request's turn, and rejects with the signal's reason. */
export function wait(
  queue: WaitingLines,
  { by, signal }: { readonly by: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
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
        reject(toError(error));
      },
    };
    const abort = () => {
      leave(queue, by, waiter);
      waiter.refuse(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    const line = queue.lines.get(by) ?? new Set();
    queue.lines.set(by, line.add(waiter));
    queue.waiting += 1;
  });
}

interface Calling {
  readonly mayEnter: (by: string) => boolean;
  /** What callers have used, by which they go; null when they take turns. */
  readonly usage: DecayedUsage | null;
}

/** Lets in the first request of the next caller who may enter. @returns that caller, or null when nobody may enter */
export function callNext(queue: WaitingLines, { mayEnter, usage }: Calling): string | null {
  const callers = usage
    ? [...queue.lines.keys()].sort((one, other) => usage.compare(one, other))
    : queue.lines.keys();
  for (const by of callers) {
    const line = queue.lines.get(by);
    if (!line || !mayEnter(by)) continue;
    for (const waiter of line) {
      leave(queue, by, waiter);
      // The line goes to the end, because the turn of the others comes first now.
      if (queue.lines.delete(by)) queue.lines.set(by, line);
      waiter.enter();
      return by;
    }
  }
  return null;
}

/** Refuses the newest request of the longest line. */
export function refuseNewest(queue: WaitingLines, error: Error): void {
  let longest: [by: string, line: Set<Waiter>] | null = null;
  for (const entry of queue.lines) if (!longest || entry[1].size > longest[1].size) longest = entry;
  const newest = longest && [...longest[1]].at(-1);
  if (!longest || !newest) return;
  leave(queue, longest[0], newest);
  newest.refuse(error);
}

function leave(queue: WaitingLines, by: string, waiter: Waiter): void {
  const line = queue.lines.get(by);
  if (!line?.delete(waiter)) return;
  queue.waiting -= 1;
  if (line.size === 0) queue.lines.delete(by);
}
