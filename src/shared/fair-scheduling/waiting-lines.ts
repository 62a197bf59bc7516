import type { DecayedUsage } from './decayed-usage.js';
import { reasonOf } from '../tools/until-aborted.js';

/** The requests of one kind that wait for a turn: one line for each caller, and the callers in turn. */
export interface WaitingLines {
  /** The number of requests in all lines. */
  waiting: number;
  /** The lines by caller. The first line belongs to the caller whose turn is next, since a map keeps the order of insertion. */
  readonly lines: Map<string, Set<Waiter>>;
}

interface Waiter {
  /** True if it is never refused for want of room in the queue. */
  readonly isKept: boolean;
  readonly since: number;
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

/** The first request of a caller. */
export interface Head {
  readonly by: string;
  readonly waiter: Waiter;
}

export function createWaitingLines(): WaitingLines {
  return { waiting: 0, lines: new Map() };
}

interface Joining<Turn> {
  readonly by: string;
  readonly isKept: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called in the moment in which its turn comes. */
  readonly begin: () => Turn;
}

/** Joins the line of a caller at once. Resolves when it is this request's turn, and rejects with the signal's reason. */
export function wait<Turn>(queue: WaitingLines, { by, isKept, signal, begin }: Joining<Turn>): Promise<Turn> {
  return new Promise<Turn>((resolve, reject) => {
    const settle = () => {
      signal?.removeEventListener('abort', abort);
    };
    const waiter: Waiter = {
      isKept,
      since: performance.now(),
      enter: () => {
        settle();
        resolve(begin());
      },
      refuse: (error) => {
        settle();
        reject(error);
      },
    };
    const abort = () => {
      leave(queue, by, waiter);
      if (signal) waiter.refuse(reasonOf(signal));
    };
    signal?.addEventListener('abort', abort, { once: true });
    const line = queue.lines.get(by) ?? new Set();
    queue.lines.set(by, line.add(waiter));
    queue.waiting += 1;
  });
}

interface Choice {
  readonly mayEnter: (by: string) => boolean;
  /** The usage of callers, which orders them; null when they take turns. */
  readonly usage: DecayedUsage | null;
}

/** Finds the first request of the next caller who may enter. */
export function firstOf(queue: WaitingLines, { mayEnter, usage }: Choice): Head | null {
  let first: Head | null = null;
  for (const [by, [waiter]] of queue.lines) {
    if (!waiter || !mayEnter(by)) continue;
    if (!usage) return { by, waiter };
    if (!first || usage.compare(by, first.by) < 0) first = { by, waiter };
  }
  return first;
}

/** Lets a request in. Its line goes to the end, because the turn of the others comes first now. */
export function call(queue: WaitingLines, { by, waiter }: Head): void {
  const line = queue.lines.get(by);
  leave(queue, by, waiter);
  if (line && queue.lines.delete(by)) queue.lines.set(by, line);
  waiter.enter();
}

/**
 * Refuses a request: of the longest lines that hold one which is not kept, the last line, and its newest such request. Earlier
 * queues are more urgent, and a newcomer puts nobody out who waits as long as it does. Those that are kept may be more than there
 * is room for; where there are no others, nothing is refused.
 */
export function refuseNewest(queues: readonly WaitingLines[], error: Error): void {
  let longest: { readonly size: number; readonly refuse: () => void } | null = null;
  for (const queue of queues)
    for (const [by, line] of queue.lines) {
      if (longest && line.size < longest.size) continue;
      const newest = [...line].findLast(({ isKept }) => !isKept);
      if (!newest) continue;
      const refuse = () => {
        leave(queue, by, newest);
        newest.refuse(error);
      };
      longest = { size: line.size, refuse };
    }
  longest?.refuse();
}

function leave(queue: WaitingLines, by: string, waiter: Waiter): void {
  const line = queue.lines.get(by);
  if (!line?.delete(waiter)) return;
  queue.waiting -= 1;
  if (line.size === 0) queue.lines.delete(by);
}
