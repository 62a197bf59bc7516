/** Tags lie in each chunk, for the index to filter by: the same metadata costs a long document more than a short one. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Bytes of tags that each of so many chunks may have. */
export const maxTagBytes = (chunks: number): number => Math.floor(MAX_BYTES / Math.max(1, chunks));
