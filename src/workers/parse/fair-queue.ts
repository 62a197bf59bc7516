import { createTally } from '../../shared/tools/tally.js';

interface Taker {
  /** Whether the task is quick, so that it may use the spare item. */
  readonly isQuick: boolean;
  readonly callerId: string;
  /** What `suits` compares an item with. */
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
}

interface Waiting<T> extends Omit<Taker, 'signal'> {
  readonly resolve: (item: T | undefined) => void;
}

/**
 * Lends items, each to one taker at a time. The caller that holds the fewest items is served first, then the one that has
 * waited longest. While slow tasks hold all items, quick tasks may use `spare`, so that they never wait for slow ones.
 *
 * @param suits how well an idle item suits what it is taken for: the one with the highest number is lent, of several the one used last
 */
export function createFairQueue<T>(
  items: readonly T[],
  spare: T,
  suits: (item: T, origin: string) => number = () => 0,
) {
  const idle = [...items];
  const waiting: Waiting<T>[] = [];
  /** How many items each caller holds. */
  const holdings = createTally();
  let slow = 0;
  let isSpareIdle = true;

  const serve = (): void => {
    for (;;) {
      const isSpareOpen = isSpareIdle && slow === items.length;
      const able = waiting.filter(({ isQuick }) => idle.length > 0 || (isQuick && isSpareOpen));
      const [next] = able.toSorted((a, b) => holdings.of(a.callerId) - holdings.of(b.callerId));
      if (!next) return;
      waiting.splice(waiting.indexOf(next), 1);
      holdings.add(next.callerId, 1);
      const item = takeBest(idle, (each) => suits(each, next.origin)) ?? spare;
      if (item === spare) isSpareIdle = false;
      else if (!next.isQuick) slow += 1;
      next.resolve(item);
    }
  };

  return {
    /** @throws the signal's reason when it aborts the wait */
    take: (taker: Taker): Promise<T> => waitForItem(waiting, taker, serve),
    giveBack(item: T, { isQuick, callerId }: Pick<Taker, 'isQuick' | 'callerId'>): void {
      holdings.add(callerId, -1);
      if (item === spare) isSpareIdle = true;
      else {
        idle.push(item);
        if (!isQuick) slow -= 1;
      }
      serve();
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
): Promise<T> {
  let abort = (): void => undefined;
  const item = await new Promise<T | undefined>((resolve) => {
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
  if (item !== undefined) return item;
  signal?.throwIfAborted();
  throw new Error('aborted');
}
