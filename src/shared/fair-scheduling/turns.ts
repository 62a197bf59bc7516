import { UnavailableError } from '../errors.js';
import { createTally, type Tally } from '../tools/tally.js';
import type { DecayedUsage } from './decayed-usage.js';
import { callNext, createWaitingLines, refuseNewest, wait, type WaitingLines } from './waiting-lines.js';

/** Who asks for a turn. */
export interface TurnRequest {
  /** The name of the caller. Waiting callers take turns, however many times one of them waits. */
  readonly by?: string;
  /** Aborts the wait, so that a request that nobody waits for takes no turn. */
  readonly signal?: AbortSignal | undefined;
}

export interface Turns {
  /**
   * Waits for a turn.
   * @returns a function that ends the turn
   * @throws UnavailableError when too many wait; the signal's reason when it aborts
   */
  enter(request?: TurnRequest): Promise<() => void>;
  /** Runs a task in a turn. */
  run<Result>(task: () => Promise<Result>, request?: TurnRequest): Promise<Result>;
  /** Whether another caller waits who has used less than this one. */
  isWanted(by: string): boolean;
  figures(): { readonly running: number; readonly waiting: number };
}

interface TurnLimits {
  /** How many turns a caller may have at once while no other comes. A newcomer goes before this limit. */
  readonly maxAlone?: number;
  /** How many turns a caller may have at once while others have some. With it, nobody goes beyond `maxAtOnce`. */
  readonly maxPerCaller?: number;
  readonly maxWaiting?: number;
  /** What callers have used: who used least goes first. Without it, they take turns. */
  readonly usage?: DecayedUsage;
  readonly name?: string;
}

/** A caller is not alone for this long after another came. */
const COMPANY_MILLISECONDS = 1_000;

/**
 * Gives at most `maxAtOnce` turns at the same time. The other requests wait, and their callers
 * take turns. When more than `maxWaiting` wait, the newest request of the caller with the most of
 * them is refused, so that nobody fills the queue of others.
 */
export function createTurns(
  maxAtOnce: number,
  { maxAlone = maxAtOnce, maxPerCaller, maxWaiting = Infinity, usage, name = 'queue' }: TurnLimits = {},
): Turns {
  const places: Places = {
    maxAtOnce,
    maxAlone,
    maxPerCaller: maxPerCaller ?? null,
    usage: usage ?? null,
    running: 0,
    runningOf: createTally(),
    latest: null,
    companyUntil: 0,
  };
  const queue = createWaitingLines();

  const enter = async ({ by = '', signal }: TurnRequest = {}) => {
    signal?.throwIfAborted();
    noteCaller(places, by);
    // A caller who waits already comes first, because a turn that ends is passed on.
    if (!queue.lines.has(by) && mayEnter(places, by)) count(places, by, 1);
    else {
      const turn = wait(queue, { by, signal });
      if (queue.waiting > maxWaiting) refuseNewest(queue, new UnavailableError(name));
      await turn;
    }
    return leaveOnce(places, queue, by);
  };
  const isWanted = (by: string) => {
    const used = usage?.used(by) ?? 0;
    return [...queue.lines.keys()].some((other) => other !== by && (usage?.used(other) ?? 0) < used);
  };

  return {
    enter,
    run: (task, request) => runInTurn(enter(request), task),
    isWanted,
    figures: () => ({ running: places.running, waiting: queue.waiting }),
  };
}

async function runInTurn<Result>(turn: Promise<() => void>, task: () => Promise<Result>): Promise<Result> {
  const leave = await turn;
  try {
    return await task();
  } finally {
    leave();
  }
}

/** The turns that are taken. */
interface Places {
  readonly maxAtOnce: number;
  readonly maxAlone: number;
  readonly maxPerCaller: number | null;
  readonly usage: DecayedUsage | null;
  running: number;
  readonly runningOf: Tally;
  /** The caller who came last. */
  latest: string | null;
  companyUntil: number;
}

function noteCaller(places: Places, by: string): void {
  if (places.latest !== null && places.latest !== by)
    places.companyUntil = performance.now() + COMPANY_MILLISECONDS;
  places.latest = by;
}

function mayEnter(places: Places, by: string): boolean {
  const { maxAtOnce, maxAlone, maxPerCaller, running, runningOf, companyUntil } = places;
  if (maxPerCaller !== null) {
    const own = runningOf.of(by);
    return running < maxAtOnce && own < (own === running ? maxAlone : maxPerCaller);
  }
  if (running < maxAtOnce) return true;
  if (maxAlone === maxAtOnce) return false;
  if (runningOf.of(by) === 0) return running < maxAlone + maxAtOnce;
  return running < maxAlone && performance.now() > companyUntil;
}

function count(places: Places, by: string, change: 1 | -1): void {
  places.running += change;
  places.runningOf.add(by, change);
}

/** Returns a function that ends a turn when it is first called. */
function leaveOnce(places: Places, queue: WaitingLines, by: string): () => void {
  const endUse = places.usage?.begin(by);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    endUse?.();
    count(places, by, -1);
    // More than one may enter when a caller has become alone.
    while (letNextIn(places, queue));
  };
}

function letNextIn(places: Places, queue: WaitingLines): boolean {
  const next = callNext(queue, { mayEnter: (by) => mayEnter(places, by), usage: places.usage });
  if (next !== null) count(places, next, 1);
  return next !== null;
}
