/** A sum for each name, such as what each caller holds. Names whose sum is 0 take no memory. */
export interface Tally {
  of(name: string): number;
  add(name: string, by: number): void;
  /** The name with the largest sum; null when there are none. */
  largest(): string | null;
}

export function createTally(): Tally {
  const sums = new Map<string, number>();
  const of = (name: string) => sums.get(name) ?? 0;
  return {
    of,
    largest: () => {
      let found: readonly [name: string | null, sum: number] = [null, -Infinity];
      for (const each of sums) if (each[1] > found[1]) found = each;
      return found[0];
    },
    add: (name, by) => {
      const sum = of(name) + by;
      if (sum === 0) sums.delete(name);
      else sums.set(name, sum);
    },
  };
}
