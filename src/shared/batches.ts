/** Chunks are written, embedded, counted, re-tagged and unlinked in batches of this many. */
export const BATCH_SIZE = 64;

/**
 * Chunks whose vectors go into an index, change there or leave it in one step: in an HNSW graph each takes Redis one or
 * two milliseconds.
 */
export const INDEXED_AT_ONCE = 8;

export function batchCount(chunkCount: number): number {
  return Math.ceil(chunkCount / BATCH_SIZE);
}

/** Numbers of the chunks in a batch. */
export function batchNumbers(batch: number, chunkCount: number): number[] {
  const first = batch * BATCH_SIZE;
  return Array.from({ length: Math.max(0, Math.min(BATCH_SIZE, chunkCount - first)) }, (_, i) => first + i);
}

/** As many as go into an index at once. */
export function inGroups<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / INDEXED_AT_ONCE) }, (_, i) =>
    items.slice(i * INDEXED_AT_ONCE, (i + 1) * INDEXED_AT_ONCE),
  );
}
