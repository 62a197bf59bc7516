import { UnavailableError } from '../errors.js';
import { callNext, createWaitingLines, refuseNewest, wait, type WaitingLines } from './waiting-lines.js';

/** What a turn is asked for with. */
export interface TurnRequest {
  /** Names the caller. Callers who wait take turns, however many times one of them waits. */
  readonly by?: string;
  /** Aborts the wait: a request that nobody waits for any more takes no turn. */
  readonly signal?: AbortSignal | undefined;
}

export interface Turns {
  /** @returns what ends the turn @throws UnavailableError when too many wait; the signal's reason when it aborts */
  enter(request?: TurnRequest): Promise<() => void>;
  /** Runs a task in a turn. */
  run<Result>(task: () => Promise<Result>, request?: TurnRequest): Promise<Result>;
  figures(): { readonly running: number; readonly waiting: number };
}

interface TurnLimits {
  /** A caller may have so many at once as long as no other comes; a caller who has none goes before that limit. */
  readonly maxAlone?: number;
  readonly maxWaiting?: number;
  readonly name?: string;
}

/** A caller is not alone for so long after another came. */
const COMPANY_MILLISECONDS = 1_000;

/**
 * Lets in at most `most` at once. The others wait, and callers come in turn. Where more than `maxWaiting` wait, the
 * newest of the caller who has the most of them is refused, so that nobody fills the queue of others.
 */
export function createTurns(
  maxAtOnce: number,
  { maxAlone = maxAtOnce, maxWaiting = Infinity, name = 'queue' }: TurnLimits = {},
): Turns {
  const places: Places = {
    maxAtOnce,
    maxAlone,
    running: 0,
    runningOf: new Map(),
    latest: null,
    companyUntil: 0,
  };
  const queue = createWaitingLines();

  const enter = async ({ by = '', signal }: TurnRequest = {}) => {
    signal?.throwIfAborted();
    noteCaller(places, by);
    // A caller who waits already comes first: a turn that ends passes its place on.
    if (!queue.lines.has(by) && mayEnter(places, by)) count(places, by, 1);
    else {
      const turn = wait(queue, { by, signal });
      if (queue.waiting > maxWaiting) refuseNewest(queue, new UnavailableError(name));
      await turn;
    }
    return leaveOnce(places, queue, by);
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
    figures: () => ({ running: places.running, waiting: queue.waiting }),
  };
}

/** The turns that run. */
interface Places {
  readonly maxAtOnce: number;
  readonly maxAlone: number;
  running: number;
  readonly runningOf: Map<string, number>;
  /** The caller who came last. */
  latest: string | null;
  companyUntil: number;
}

function noteCaller(places: Places, by: string): void {
  if (places.latest !== null && places.latest !== by)
    places.companyUntil = performance.now() + COMPANY_MILLISECONDS;
  places.latest = by;
}

function mayEnter({ maxAtOnce, maxAlone, running, runningOf, companyUntil }: Places, by: string): boolean {
  if (running < maxAtOnce) return true;
  if (maxAlone === maxAtOnce) return false;
  if (!runningOf.has(by)) return running < maxAlone + maxAtOnce;
  return running < maxAlone && performance.now() > companyUntil;
}

function count(places: Places, by: string, change: 1 | -1): void {
  places.running += change;
  const left = (places.runningOf.get(by) ?? 0) + change;
  if (left > 0) places.runningOf.set(by, left);
  else places.runningOf.delete(by);
}

/** Ends a turn when it is called for the first time. */
function leaveOnce(places: Places, queue: WaitingLines, by: string): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    count(places, by, -1);
    // More than one may come in, where a caller has become alone.
    while (letNextIn(places, queue));
  };
}

function letNextIn(places: Places, queue: WaitingLines): boolean {
  const next = callNext(queue, (by) => mayEnter(places, by));
  if (next !== null) count(places, next, 1);
  return next !== null;
}
