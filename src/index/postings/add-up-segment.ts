import type { Segment } from './segment.js';

/** The parts that the terms of a chunk add to a sum. */
export interface TermProducts {
  /** The product of a term, for each unit of its weight. */
  readonly of: (term: number) => number;
  /** The weight of a count in a chunk of a length. */
  readonly weigh: (count: number, length: number) => number;
}

/** Calls `tell` for every chunk of the segment that holds a term of a product other than 0, with the sum of its products. */
export function addUpSegment(
  { slots, lengths, terms, starts, ordinals, counts }: Segment,
  { of, weigh }: TermProducts,
  tell: (slot: number, sum: number) => void,
): void {
  const sums = new Float64Array(slots.length);
  // `?? 0` reads numbers that are known to be there, because a check would slow the loops down.
  for (let place = 0; place < terms.length; place += 1) {
    const product = of(terms[place] ?? 0);
    if (product === 0) continue;
    const end = starts[place + 1] ?? 0;
    for (let at = starts[place] ?? 0; at < end; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      sums[ordinal] = (sums[ordinal] ?? 0) + product * weigh(counts[at] ?? 0, lengths[ordinal] ?? 0);
    }
  }
  for (let ordinal = 0; ordinal < slots.length; ordinal += 1) {
    const slot = slots[ordinal] ?? -1;
    const sum = sums[ordinal] ?? 0;
    if (slot >= 0 && sum !== 0) tell(slot, sum);
  }
}
