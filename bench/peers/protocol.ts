/** The requests to an engine's process. */
export type Request =
  /** Searches for `count` queries from `first` on, each timed. */
  | { readonly type: 'round'; readonly first: number; readonly count: number }
  /** Searches for the first queries. */
  | { readonly type: 'answers'; readonly count: number }
  | { readonly type: 'listen' };

export type Answer =
  | ({ readonly type: 'built' } & Built)
  | { readonly type: 'round'; readonly milliseconds: readonly number[] }
  | { readonly type: 'answers'; readonly places: readonly (readonly number[])[] }
  | { readonly type: 'listening'; readonly port: number };

/**
 * Memory is what came with the items: what JavaScript holds after a collection, on its heap and outside of it; and resident
 * memory without the heap, which is where native libraries keep theirs.
 */
export interface Built {
  readonly buildSeconds: number;
  readonly heldMb: number;
  readonly besideHeapMb: number;
}
