import type { LoadedChunks } from '../../../../index/index.js';

type Served = Pick<LoadedChunks, 'attempt' | 'named'>;

/**
 * Tells whether chunks are the ones that a record publishes, with the terms of its file's name. While the record is being
 * changed, they stay as they are.
 */
export function isServing(
  chunks: (Pick<Served, 'named'> & { readonly attempt: string | null }) | undefined,
  published: Served | null,
): boolean {
  if (!chunks || chunks.attempt !== published?.attempt) return false;
  return published.named === undefined || published.named === chunks.named;
}
