/** Chunks are written, embedded, counted, re-tagged and unlinked in batches of this size. */
export const BATCH_SIZE = 64;

/**
 * Chunks whose vectors enter, change in or leave an index in one step. In an HNSW
 * graph each of them takes Redis a millisecond or two.
 */
export const INDEXED_AT_ONCE = 8;

export function batchCount(chunkCount: number): number {
  return Math.ceil(chunkCount / BATCH_SIZE);
}

/** The numbers of the chunks in a batch. */
export function batchNumbers(batch: number, chunkCount: number): number[] {
  const first = batch * BATCH_SIZE;
  return Array.from({ length: Math.max(0, Math.min(BATCH_SIZE, chunkCount - first)) }, (_, i) => first + i);
}

/** Divides items into groups that may enter an index in one step. */
export function inGroups<Item>(items: readonly Item[]): Item[][] {
  return slicesOf(items, INDEXED_AT_ONCE);
}

/** Cuts a list into slices of `size` items; the last may be shorter. */
export function slicesOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
