import { createDecayedUsage } from '../../shared/fair-scheduling/decayed-usage.js';
import { createTurns, type Standing } from '../../shared/fair-scheduling/turns.js';

interface Taker {
  /** True if the task is quick, so that it may use the spare item. */
  readonly isQuick: boolean;
  readonly callerId: string;
  /** The origin that `suits` compares an item with. */
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
}

/** An item that is lent. */
export interface Lent<T> {
  readonly item: T;
  /**
   * Tells whether a slow task is to give the item to another caller, who has used less.
   *
   * @param milliseconds the least time for which it has the item; among tasks that have one, the last gets no more than
   *   `MIN_MILLISECONDS`
   * @param prepared the milliseconds until the item could be used, which do not count
   */
  readonly isWanted: (milliseconds: number, prepared?: number) => boolean;
  readonly giveBack: () => void;
}

/** The first turn of a file that nobody knows yet, in which most files are read. */
export const FIRST_TURN_MILLISECONDS = 2_000;
/** The turn after that, and the longest one of the task that began last. */
export const MIN_MILLISECONDS = 5_000;
const SLOW = 'slow';
const QUICK = 'quick';

/**
 * Lends items, each to one taker at a time. The caller that holds the fewest items is served first, then the one that has
 * used them least, then the one that has waited longest. While slow tasks hold all items, quick tasks may use `spare`, so
 * that they never wait for slow ones.
 *
 * @param suits rates an idle item for an origin: the item with the highest number is lent, among equals the last used one
 */
export function createFairQueue<T>(
  items: readonly T[],
  spare: T,
  suits: (item: T, origin: string) => number = () => 0,
) {
  const idle = [...items];
  let isSpareIdle = true;
  const turns = createTurns(items.length, {
    usage: createDecayedUsage(),
    kinds: [SLOW, QUICK],
    holding: [SLOW],
    mayBegin: (kind, runningOf) =>
      idle.length > 0 || (kind === QUICK && isSpareIdle && runningOf(SLOW) === items.length),
  });
  const giveBack = (item: T | undefined) => {
    if (item === undefined) isSpareIdle = true;
    else idle.push(item);
  };
  return {
    /** @throws the signal's reason when it aborts the wait */
    take: async ({ isQuick, callerId: by, origin, signal }: Taker): Promise<Lent<T>> => {
      let item: T | undefined;
      const onBegin = () => {
        item = takeBest(idle, (each) => suits(each, origin));
        if (item === undefined) isSpareIdle = false;
      };
      const turn = await turns.enter({ by, kind: isQuick ? QUICK : SLOW, signal, onBegin });
      return {
        item: item ?? spare,
        isWanted: (milliseconds, prepared = 0) => !isQuick && turn.isWanted(leastOf(milliseconds, prepared)),
        giveBack: () => {
          giveBack(item);
          turn.end();
        },
      };
    },
  };
}

/** The least time for which a slow task has its item. The task that began last gives way soon. */
const leastOf =
  (milliseconds: number, prepared: number) =>
  ({ isLast }: Standing): number =>
    prepared + (isLast ? Math.min(MIN_MILLISECONDS, milliseconds) : milliseconds);

/** Takes the item with the highest score out of the list, of several the last one. */
function takeBest<T>(items: T[], score: (item: T) => number): T | undefined {
  const scores = items.map(score);
  const [best] = items.splice(scores.lastIndexOf(Math.max(...scores)), 1);
  return best;
}
