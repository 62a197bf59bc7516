import { createTally } from '../../../shared/tools/tally.js';

/** Whether the holder's own share is used up, or that of all. */
export type Missing = 'share' | 'all';

/** Bytes that all may hold, and each holder of them. */
export interface Room {
  /** What `bytes` more would be too much for; null: nothing. */
  misses(holder: string, bytes: number): Missing | null;
  add(holder: string, bytes: number): void;
  held(): number;
}

export function createRoom(maxBytes: number, shareBytes: number): Room {
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
