import { createTally } from '../../../shared/tools/tally.js';

/** The room that is used up: the holder's own share, or the room of all holders together. */
export type Missing = 'share' | 'all';

/** Counts the bytes that holders have, and limits the bytes of each holder and of all together. */
export interface ByteShares {
  /** Returns the limit that `bytes` more would exceed; null when they fit. */
  misses(holder: string, bytes: number): Missing | null;
  /** Adds to the bytes of a holder; a negative number gives bytes back. */
  add(holder: string, bytes: number): void;
  /** Returns the bytes that all holders have. */
  held(): number;
}

export function createByteShares(maxBytes: number, shareBytes: number): ByteShares {
  const byHolder = createTally();
  let held = 0;
  return {
    held: () => held,
    misses: (holder, bytes) => {
      if (byHolder.of(holder) + bytes > shareBytes) return 'share';
      return held + bytes > maxBytes ? 'all' : null;
    },
    add: (holder, bytes) => {
      held += bytes;
      byHolder.add(holder, bytes);
    },
  };
}
