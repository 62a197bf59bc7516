import { dropOldest } from '../../tools/drop-oldest.js';

/** Counts of this many conditions are remembered. */
const MAX_KNOWN = 1_024;
/** A count that is older is made anew for the searches that follow. Counting 100,000 chunks takes some 3 ms. */
const FRESH_MILLISECONDS = 60_000;

/** Tells how many chunks a condition lets through, perhaps a while ago. */
export type ChunkCounts = (within: string) => Promise<number>;

interface Counted {
  readonly at: number;
  readonly count: Promise<number>;
}

/** Remembers counts: only the first search of a condition waits, and the old count serves while it is made anew. */
export function createChunkCounts(
  read: (within: string) => Promise<number>,
  now: () => number = () => performance.now(),
): ChunkCounts {
  const known = new Map<string, Counted>();
  const remember = (within: string, count: Promise<number>): Promise<number> => {
    // A map keeps the order of insertion, so that its first condition is the one with the oldest count.
    known.delete(within);
    known.set(within, { at: now(), count });
    dropOldest(known, MAX_KNOWN);
    return count;
  };
  const begin = (within: string): Promise<number> => {
    const count = remember(within, read(within));
    count.catch(() => known.delete(within));
    return count;
  };
  const renew = (within: string, old: Promise<number>): Promise<number> => {
    read(within).then(
      (count) => remember(within, Promise.resolve(count)),
      // The old one serves for another while; a search that cannot be made says so itself.
      () => undefined,
    );
    return remember(within, old);
  };
  return (within) => {
    const counted = known.get(within);
    if (!counted) return begin(within);
    return now() - counted.at > FRESH_MILLISECONDS ? renew(within, counted.count) : counted.count;
  };
}
