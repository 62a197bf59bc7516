import { createHolders, type Holders, type Standing } from '../../shared/fair-scheduling/holders.js';
import { createDecayedUsage, type DecayedUsage } from '../../shared/fair-scheduling/decayed-usage.js';
import { ModelError } from './model-error.js';

export interface TurnRequest {
  /** For whom it is done. Who has used the model least goes first. Empty where nobody says. */
  readonly by?: string | undefined;
  /** Whether somebody waits for the answer, so that it comes before work of the background. */
  readonly isUrgent: boolean;
  readonly signal: AbortSignal;
  /** Whether it has had a turn before, and gave way. It is not refused then, however many wait. */
  readonly hasBegun?: boolean;
}

/** A turn that has begun. */
export interface Turn {
  /** Whether another goes first who waits. Who is told so ends the turn soon, and asks for another. */
  readonly isWanted: () => boolean;
}

/** After this many urgent tasks that went before one of the background, that one goes. */
const MOST_OVERTAKING = 8;
/** A turn lasts at least this long, since it costs time to put a conversation aside. */
const LEAST_MILLISECONDS = 5_000;
/** The same for the last turn of a caller who has all of them. */
const LEAST_OF_ALL_MILLISECONDS = 500;
const leastOf = ({ hasAll, isLast }: Standing): number =>
  hasAll && isLast ? LEAST_OF_ALL_MILLISECONDS : LEAST_MILLISECONDS;

/** Lets a limited number of tasks run at once, the urgent ones first, but not for ever, else by who has used least, else in order. */
export interface Turns {
  readonly waiting: number;
  /**
   * Runs a task when it is its turn.
   * @throws ModelError `overloaded` when too many wait; the signal's reason when it aborts before the turn
   */
  take<Result>(request: TurnRequest, task: (turn: Turn) => Promise<Result>): Promise<Result>;
}

interface Asking {
  readonly by: string;
  readonly isUrgent: boolean;
}

interface Waiting extends Asking {
  readonly start: () => void;
}

interface Running {
  readonly isUrgent: boolean;
}

interface TurnOptions {
  readonly atOnce: number;
  readonly maxWaiting: number;
  /** Tasks of the background that run at once; as many as there are places by default. */
  readonly background?: number;
}

interface State {
  readonly atOnce: number;
  readonly background: number;
  readonly usage: DecayedUsage;
  readonly holders: Holders;
  readonly queue: Waiting[];
  readonly running: Set<Running>;
  /** Urgent tasks that went before one of the background since the last of those. */
  overtaking: number;
}

export function createTurns({ atOnce, maxWaiting, background = atOnce }: TurnOptions): Turns {
  const queue: Waiting[] = [];
  const usage = createDecayedUsage();
  const holders = createHolders(atOnce, usage);
  const state: State = { atOnce, background, usage, holders, queue, running: new Set(), overtaking: 0 };
  return {
    get waiting() {
      return queue.length;
    },
    take: async (request, task) => {
      request.signal.throwIfAborted();
      if (queue.length >= maxWaiting && request.hasBegun !== true)
        throw new ModelError('overloaded', 'too many requests wait for the model');
      const started = waitIn(state, request);
      startNext(state);
      const leave = await started;
      try {
        return await task({ isWanted: leave.isWanted });
      } finally {
        leave.end();
        startNext(state);
      }
    },
  };
}

/** What a task gets with its turn. */
interface Entered extends Turn {
  readonly end: () => void;
}

function startNext(state: State): void {
  const { queue, running, atOnce, background: most } = state;
  if (running.size >= atOnce) return;
  const inBackground = [...running].filter(({ isUrgent }) => !isUrgent).length;
  const background = inBackground < most ? firstOf(state, ({ isUrgent }) => !isUrgent) : null;
  const urgent = firstOf(state, ({ isUrgent }) => isUrgent);
  const isUrgentNext = urgent !== null && (!background || state.overtaking < MOST_OVERTAKING);
  const next = isUrgentNext ? urgent : background;
  if (!next) return;
  queue.splice(queue.indexOf(next), 1);
  state.overtaking = isUrgentNext && background ? state.overtaking + 1 : 0;
  next.start();
}

/** Of those who wait the one whose caller has the fewest turns, or has used least, or who came first. */
function firstOf({ queue, usage }: State, isMeant: (each: Waiting) => boolean): Waiting | null {
  let first: Waiting | null = null;
  for (const each of queue) {
    if (!isMeant(each)) continue;
    if (!first || (each.by !== first.by && usage.compare(each.by, first.by) < 0)) first = each;
  }
  return first;
}

function begin(state: State, { by, isUrgent }: Asking): Entered {
  const one: Running = { isUrgent };
  const holder = state.holders.begin(by);
  state.running.add(one);
  const countBefore = (used: number) => {
    const isBefore = (waiting: Waiting) => {
      if (waiting.isUrgent !== isUrgent) return waiting.isUrgent;
      return waiting.by !== by && state.usage.used(waiting.by) < used;
    };
    return state.queue.filter(isBefore).length;
  };
  return {
    isWanted: () => holder.isWanted(leastOf, countBefore),
    end: () => {
      state.running.delete(one);
      holder.end();
    },
  };
}

/** Resolves when the request is started, and leaves the queue when its signal aborts before that. */
function waitIn(state: State, { by = '', isUrgent, signal }: TurnRequest): Promise<Entered> {
  const { queue } = state;
  return new Promise((resolve, reject) => {
    const abort = () => {
      queue.splice(queue.indexOf(waiting), 1);
      // @NOTE the reason of a signal is whatever was given to abort(), and passed on as it is
      reject(signal.reason as Error);
    };
    const waiting: Waiting = {
      by,
      isUrgent,
      start: () => {
        signal.removeEventListener('abort', abort);
        resolve(begin(state, { by, isUrgent }));
      },
    };
    queue.push(waiting);
    signal.addEventListener('abort', abort, { once: true });
  });
}
