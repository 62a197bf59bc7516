import { createTally } from '../tools/tally.js';

export interface ShareLimits {
  readonly maxAtOnce: number;
  /** The number of turns that a caller may have at once while no other comes. A newcomer goes before this limit. */
  readonly maxAlone?: number | undefined;
  /** The number of turns that a caller may have at once while others have some. With it, nobody goes beyond `maxAtOnce`. */
  readonly maxPerCaller?: number | undefined;
}

/** A caller is not alone for this long after another came. */
const COMPANY_MILLISECONDS = 1_000;

/** Decides how many of the turns a caller may have. */
export function createShares({ maxAtOnce, maxAlone = maxAtOnce, maxPerCaller }: ShareLimits) {
  const runningOf = createTally();
  let running = 0;
  let latest: string | null = null;
  let companyUntil = 0;
  return {
    /** Notes that a caller has come. */
    note: (by: string) => {
      if (latest !== null && latest !== by) companyUntil = performance.now() + COMPANY_MILLISECONDS;
      latest = by;
    },
    count: (by: string, change: 1 | -1) => {
      running += change;
      runningOf.add(by, change);
    },
    mayEnter: (by: string): boolean => {
      const own = runningOf.of(by);
      if (maxPerCaller !== undefined)
        return running < maxAtOnce && own < (own === running ? maxAlone : maxPerCaller);
      if (running < maxAtOnce) return true;
      if (maxAlone === maxAtOnce) return false;
      if (own === 0) return running < maxAlone + maxAtOnce;
      return running < maxAlone && performance.now() > companyUntil;
    },
  };
}
