/** Bytes of tags of a whole document. Every chunk has them, so that the same metadata costs a long document more. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Returns the number of bytes of tags that each of this many chunks may have. */
export const maxTagBytes = (chunks: number): number => Math.floor(MAX_BYTES / Math.max(1, chunks));
