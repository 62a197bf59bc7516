import { TryLaterError } from '../../../../shared/errors.js';
import type { MemoryWatch } from '../../../../shared/redis/memory.js';
import { RETRY_LATER } from './admission.js';

/** The part of the memory above the share that revocations may use. They need some for the new, shorter lists. */
const REVOCATION_RESERVE = 2 / 3;

/** Checks for memory before changes that are no ingests. Both functions throw TryLaterError. */
export interface RequireRoom {
  /** @param what names what there is no room for, in the error message */
  forGrowth(what: string): Promise<void>;
  /** For access lists that became shorter and are still long: the new list is stored before the old one is removed. */
  forRevocation(): Promise<void>;
}

export function createRequireRoom(memory: MemoryWatch): RequireRoom {
  return {
    forGrowth: async (what) => {
      if (await memory.isShort()) throw new TryLaterError(`There is no room for ${what}`, RETRY_LATER);
    },
    forRevocation: async () => {
      const { used, share, max } = await memory.state();
      if (used >= share + REVOCATION_RESERVE * (max - share))
        throw new TryLaterError('There is no room for access lists of more than 16 users', RETRY_LATER);
    },
  };
}
