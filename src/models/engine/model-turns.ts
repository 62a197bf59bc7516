import { createDecayedUsage } from '../../shared/fair-scheduling/decayed-usage.js';
import { createTurns, type Standing } from '../../shared/fair-scheduling/turns.js';
import { ModelError } from './model-error.js';

export interface ModelTurnRequest {
  /** The caller for whom it is done. The caller who has used the model least goes first. Empty where nobody says. */
  readonly by?: string | undefined;
  /** True if somebody waits for the answer, so that it comes before work of the background. */
  readonly isUrgent: boolean;
  readonly signal: AbortSignal;
  /** True if it has had a turn before, and gave way. It is not refused then, however many wait. */
  readonly hasBegun?: boolean;
}

/** A turn that has begun. */
export interface ModelTurn {
  /** Tells whether another request that waits goes first. Its holder then ends the turn soon, and asks for another. */
  readonly isWanted: () => boolean;
}

/** After this many urgent tasks that went before one of the background, that one goes. */
const MAX_OVERTAKING = 8;
/** A turn lasts at least this long, since it costs time to put a conversation aside. */
const MIN_MILLISECONDS = 5_000;
/** The same for the last turn of a caller who has all of them. */
const MIN_TOTAL_MILLISECONDS = 500;
const leastOf = ({ hasAll, isLast }: Standing): number =>
  hasAll && isLast ? MIN_TOTAL_MILLISECONDS : MIN_MILLISECONDS;

/** Lets a limited number of tasks run at once, the urgent ones first, but not for ever, else by who has used least, else in order. */
export interface ModelTurns {
  readonly waiting: number;
  /**
   * Runs a task when it is its turn.
   * @throws ModelError `overloaded` when too many wait; the signal's reason when it aborts before the turn
   */
  take<Result>(request: ModelTurnRequest, task: (turn: ModelTurn) => Promise<Result>): Promise<Result>;
}

interface TurnOptions {
  readonly atOnce: number;
  readonly maxWaiting: number;
  /** Tasks of the background that run at once; as many as there are places by default. */
  readonly background?: number;
}

const URGENT = 'urgent';
const BACKGROUND = 'background';

export function createModelTurns({ atOnce, maxWaiting, background = atOnce }: TurnOptions): ModelTurns {
  const turns = createTurns(atOnce, {
    usage: createDecayedUsage(),
    kinds: [URGENT, BACKGROUND],
    maxOvertaking: MAX_OVERTAKING,
    mayBegin: (kind, runningOf) =>
      runningOf(URGENT) + runningOf(BACKGROUND) < atOnce &&
      (kind === URGENT || runningOf(BACKGROUND) < background),
    maxWaiting,
    refusal: () => new ModelError('overloaded', 'too many requests wait for the model'),
  });
  return {
    get waiting() {
      return turns.figures().waiting;
    },
    take: ({ isUrgent, ...request }, task) =>
      turns.run((turn) => task({ isWanted: () => turn.isWanted(leastOf) }), {
        ...request,
        kind: isUrgent ? URGENT : BACKGROUND,
      }),
  };
}

/** Lends items that are not in use. There must be as many turns as there are items. */
interface Pool<Item> {
  lend<Result>(task: (item: Item) => Promise<Result>): Promise<Result>;
}

export function createPool<Item>(items: readonly Item[]): Pool<Item> {
  const free = [...items];
  return {
    lend: async (task) => {
      const item = free.pop();
      if (item === undefined) throw new Error('more turns than items to lend');
      try {
        return await task(item);
      } finally {
        free.push(item);
      }
    },
  };
}
