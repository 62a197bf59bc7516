/**
 * The thoroughness of a search: `graph` keeps `inView` candidates in view while it walks an HNSW graph, `all` compares with
 * every vector of an HNSW index that a condition lets through. A FLAT index has no graph, and the engine chooses how to
 * read all vectors.
 */
export type SearchEffort =
  { readonly type: 'flat' | 'all' } | { readonly type: 'graph'; readonly inView: number };

/**
 * Comparing with this many vectors takes about as long as walking a graph, or some milliseconds with many dimensions. It
 * finds the nearest for certain. A graph does not where a condition lets through few of the vectors that it leads to.
 */
const MAX_COMPARED = 10_000;
/** Keeping one more vector in view takes as long as comparing with this many. */
const COMPARED_FOR_ONE = 12;

/**
 * Chooses for an HNSW index. The engine's own choice is not used: it asks how fast a search is, and not how good its
 * results are, and compares with all of up to 300,000 vectors where more than 12 are asked for.
 *
 * @param efRuntime the number of candidates that are to be in view of a search that may find everything; a condition that
 *   lets through half of the vectors needs twice as many, so that as many of them may be found
 */
export function chooseEffort(of: {
  readonly efRuntime: number;
  /** The number of vectors that are asked for. */
  readonly limit: number;
  /** The number of vectors that the condition lets through; `total` is the number of all. */
  readonly readable: number;
  readonly total: number;
}): SearchEffort {
  const { efRuntime, limit, readable, total } = of;
  if (readable <= MAX_COMPARED) return { type: 'all' };
  const inView = Math.ceil(Math.max(efRuntime, limit) * Math.max(1, total / readable));
  return readable <= COMPARED_FOR_ONE * inView ? { type: 'all' } : { type: 'graph', inView };
}
