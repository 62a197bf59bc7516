import { createHolders, type Holders, type Standing } from '../../shared/fair-scheduling/holders.js';
import { createDecayedUsage, type DecayedUsage } from '../../shared/fair-scheduling/decayed-usage.js';

interface Taker {
  /** Whether the task is quick, so that it may use the spare item. */
  readonly isQuick: boolean;
  readonly callerId: string;
  /** What `suits` compares an item with. */
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
}

interface Waiting<T> extends Omit<Taker, 'signal'> {
  readonly resolve: (lent: Lent<T> | undefined) => void;
}

/** An item that is lent. */
export interface Lent<T> {
  readonly item: T;
  /**
   * Whether a slow task is to give the item to another caller's, which has used less.
   *
   * @param milliseconds how long it has the item at least; of those that have one, the last gets no more than `LEAST_MILLISECONDS`
   */
  readonly isWanted: (milliseconds: number) => boolean;
  readonly giveBack: () => void;
}

/** As long as most files take. */
export const LEAST_MILLISECONDS = 5_000;

/**
 * Lends items, each to one taker at a time. The caller that holds the fewest items is served first, then the one that has used
 * them least, then the one that has waited longest. While slow tasks hold all items, quick tasks may use `spare`, so that they
 * never wait for slow ones.
 *
 * @param suits how well an idle item suits what it is taken for: the one with the highest number is lent, of several the one used last
 */
export function createFairQueue<T>(
  items: readonly T[],
  spare: T,
  suits: (item: T, origin: string) => number = () => 0,
) {
  const usage = createDecayedUsage();
  const holders = createHolders(items.length, usage);
  const state: State<T> = { idle: [...items], waiting: [], usage, holders, slow: 0, isSpareIdle: true };
  const { idle, waiting } = state;

  const serve = (): void => {
    for (;;) {
      const isSpareOpen = state.isSpareIdle && state.slow === items.length;
      const able = waiting.filter(({ isQuick }) => idle.length > 0 || (isQuick && isSpareOpen));
      const [next] = able.toSorted((one, other) => usage.compare(one.callerId, other.callerId));
      if (!next) return;
      waiting.splice(waiting.indexOf(next), 1);
      const item = takeBest(idle, (each) => suits(each, next.origin));
      const use = beginUse(state, next, item === undefined);
      const giveBack = () => {
        use.end();
        if (item !== undefined) idle.push(item);
        serve();
      };
      next.resolve({ item: item ?? spare, isWanted: use.isWanted, giveBack });
    }
  };

  return {
    /** @throws the signal's reason when it aborts the wait */
    take: (taker: Taker): Promise<Lent<T>> => waitForItem(waiting, taker, serve),
  };
}

interface State<T> {
  readonly idle: T[];
  readonly waiting: Waiting<T>[];
  readonly usage: DecayedUsage;
  /** The slow tasks that have items. */
  readonly holders: Holders;
  slow: number;
  isSpareIdle: boolean;
}

interface Use extends Pick<Lent<unknown>, 'isWanted'> {
  readonly end: () => void;
}

/** Counts what a caller uses. Only slow tasks that have one of the items give way. */
function beginUse<T>(state: State<T>, { callerId, isQuick }: Waiting<T>, hasSpare: boolean): Use {
  if (hasSpare || isQuick) {
    const end = state.usage.begin(callerId);
    if (hasSpare) state.isSpareIdle = false;
    return {
      isWanted: () => false,
      end: () => {
        end();
        if (hasSpare) state.isSpareIdle = true;
      },
    };
  }
  const holder = state.holders.begin(callerId);
  state.slow += 1;
  const countBefore = (used: number) => {
    const isBefore = (each: Waiting<T>) =>
      !each.isQuick && each.callerId !== callerId && state.usage.used(each.callerId) < used;
    return state.waiting.filter(isBefore).length;
  };
  return {
    isWanted: (milliseconds) => {
      const leastOf = ({ isLast }: Standing) =>
        isLast ? Math.min(LEAST_MILLISECONDS, milliseconds) : milliseconds;
      return holder.isWanted(leastOf, countBefore);
    },
    end: () => {
      holder.end();
      state.slow -= 1;
    },
  };
}

/** Takes the item with the highest score out of the list, of several the last one. */
function takeBest<T>(items: T[], score: (item: T) => number): T | undefined {
  const scores = items.map(score);
  const [best] = items.splice(scores.lastIndexOf(Math.max(...scores)), 1);
  return best;
}

/** Waits until `serve` lends an item. Leaves the queue when the signal aborts. */
async function waitForItem<T>(
  waiting: Waiting<T>[],
  { isQuick, callerId, origin, signal }: Taker,
  serve: () => void,
): Promise<Lent<T>> {
  let abort = (): void => undefined;
  const lent = await new Promise<Lent<T> | undefined>((resolve) => {
    const entry = { isQuick, callerId, origin, resolve };
    waiting.push(entry);
    abort = () => {
      const place = waiting.indexOf(entry);
      if (place < 0) return;
      waiting.splice(place, 1);
      resolve(undefined);
    };
    signal?.addEventListener('abort', abort, { once: true });
    serve();
  });
  signal?.removeEventListener('abort', abort);
  if (lent !== undefined) return lent;
  signal?.throwIfAborted();
  throw new Error('aborted');
}
