import { addTo, sumOf } from '../at.js';

/** A sum for each name, such as the bytes that each caller holds. Names whose sum is 0 take no memory. */
export interface Tally {
  of(name: string): number;
  add(name: string, by: number): void;
  /** The names with larger sums than this, largest first. */
  above(sum: number): string[];
}

export function createTally(): Tally {
  const sums = new Map<string, number>();
  const of = (name: string) => sumOf(sums, name);
  return {
    of,
    above: (least) => {
      const found = [...sums].filter(([, sum]) => sum > least).sort(([, a], [, b]) => b - a);
      return found.map(([name]) => name);
    },
    add: (name, by) => {
      if (addTo(sums, name, by) === 0) sums.delete(name);
    },
  };
}
