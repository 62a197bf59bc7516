import { MAX_DIRECT } from '../../../../shared/access/access.js';
import { TryLaterError } from '../../../../shared/errors.js';
import type { MemoryWatch, Shortage } from '../../../../shared/redis/memory.js';

/**
 * Long enough for a busy service to make progress, and far shorter than the work on thousands of waiting documents, so
 * that workers never become idle while callers stay away. It is fixed, because no process knows the pace of all workers.
 */
export const RETRY_LATER = { retryAfterSeconds: 30 };

/** The part of the memory above the share that revocations may use. They need some for the new, shorter lists. */
const REVOCATION_RESERVE = 2 / 3;

/** Makes the error for a lack of room. It names the disk where that is short. */
export function noRoomFor(what: string, shortage: Shortage): TryLaterError {
  const full = shortage === 'disk' ? ': the disk is nearly full' : '';
  return new TryLaterError(`There is no room for ${what}${full}`, RETRY_LATER);
}

/** Checks for memory before changes that are no ingests. Both functions throw TryLaterError. */
export interface RequireRoom {
  /** @param what names the object that there is no room for, in the error message */
  forGrowth(what: string): Promise<void>;
  /** For access lists that became shorter and are still long: the new list is stored before the old one is removed. */
  forRevocation(): Promise<void>;
}

export function createRequireRoom(memory: MemoryWatch): RequireRoom {
  return {
    forGrowth: async (what) => {
      const shortage = await memory.shortage();
      if (shortage) throw noRoomFor(what, shortage);
    },
    forRevocation: async () => {
      const { used, share, max } = await memory.state();
      if (used >= share + REVOCATION_RESERVE * (max - share))
        throw new TryLaterError(
          `There is no room for access lists of more than ${String(MAX_DIRECT)} users`,
          RETRY_LATER,
        );
    },
  };
}
