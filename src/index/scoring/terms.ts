/**
 * The counts of a text's terms, each known by its 32-bit hash. `length` is the sum of the counts, without terms that are
 * kept aside.
 */
export interface TermCounts {
  readonly length: number;
  readonly counts: ReadonlyMap<number, number>;
}

/**
 * Every term of a text once, known by its 32-bit hash, with its number of occurrences. `length` is the sum of the counts of
 * the terms that measure it.
 */
export interface TermList {
  readonly length: number;
  readonly terms: Uint32Array;
  readonly counts: Uint32Array;
}

/** Counts over the chunks of the caller's own documents. `totalLength` is the sum of their lengths in terms. */
export interface TermStatistics {
  readonly chunks: number;
  readonly totalLength: number;
  /** The number of chunks that hold each term; terms that none holds may be missing. */
  readonly frequencies: ReadonlyMap<number, number>;
}

export const noStatistics: TermStatistics = { chunks: 0, totalLength: 0, frequencies: new Map() };

/** The terms of a query with their weights, by which chunks are scored. */
export interface TermWeights {
  /** Hashed terms, ascending. */
  readonly terms: Uint32Array;
  /** The weight of each term, as a share of the weight of all. */
  readonly weights: Float64Array;
  /** The average length, in terms, of the chunks that the weights are based on. */
  readonly averageLength: number;
}

/** The words of a query as the app's analyzer reads them. The index counts their terms, and the app weighs them by that. */
export interface WordQuery {
  readonly terms: readonly number[];
  readonly weigh: (statistics: TermStatistics) => TermWeights;
}
