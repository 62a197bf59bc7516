/** Gets the chunks that may be among the best, and says how good a chunk has to be. */
export interface Collector {
  readonly threshold: number;
  /** @param sum the score, but for its last digits: it differs by `spareOf` at most */
  collect(slot: number, sum: number): void;
}

/**
 * Returns the greatest difference between the sum of a query's terms and the score, which is 1 at most: sums are floats of
 * 32 bits that are added up in another order. Each of the terms is rounded a few times, and each addition once.
 */
export const spareOf = (terms: number): number => (terms + 8) * 2 ** -23;
