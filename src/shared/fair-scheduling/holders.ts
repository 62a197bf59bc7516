import type { DecayedUsage } from './decayed-usage.js';

/** How one stands among those who have places, where there are several and all are taken. */
export interface Standing {
  /** Whether it began last. */
  readonly isLast: boolean;
  /** Whether its caller has all of them. */
  readonly hasAll: boolean;
}

/** One who has one of the places that there are. */
export interface Holder {
  /**
   * Whether it gives way to one of those who wait. Who is told so ends soon, and no more are told so than wait.
   *
   * @param leastOf how long it has the place at least, in milliseconds
   * @param countBefore counts those who wait and go before a caller who has used so many seconds
   */
  isWanted(leastOf: (standing: Standing) => number, countBefore: (usedSeconds: number) => number): boolean;
  /** Gives the place back, and counts the seconds that it was taken. */
  end(): void;
}

interface Place {
  readonly by: string;
  readonly since: number;
  isLeaving: boolean;
}

export type Holders = ReturnType<typeof createHolders>;

/** Those who have one of so many places. */
export function createHolders(atOnce: number, usage: DecayedUsage) {
  /** In the order in which they began. */
  const taken = new Set<Place>();
  const standingOf = (place: Place): Standing => {
    const all = [...taken];
    const isContested = atOnce > 1 && all.length === atOnce;
    return {
      isLast: isContested && all.at(-1) === place,
      hasAll: isContested && all.every(({ by }) => by === place.by),
    };
  };
  const isWanted = (place: Place, ...[leastOf, countBefore]: Parameters<Holder['isWanted']>) => {
    if (performance.now() - place.since < leastOf(standingOf(place))) return false;
    const leaving = [...taken].filter(({ isLeaving }) => isLeaving).length;
    return countBefore(usage.used(place.by)) > leaving;
  };
  return {
    begin: (by: string): Holder => {
      const endUse = usage.begin(by);
      const place: Place = { by, since: performance.now(), isLeaving: false };
      taken.add(place);
      return {
        isWanted: (...asked) => {
          place.isLeaving ||= isWanted(place, ...asked);
          return place.isLeaving;
        },
        end: () => {
          taken.delete(place);
          endUse();
        },
      };
    },
  };
}
