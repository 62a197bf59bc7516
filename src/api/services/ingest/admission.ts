import {
  countUnfinishedIngests,
  countUnfinishedIngestsOf,
} from '../../../shared/documents/unfinished-ingests.js';
import { TooManyError, TryLaterError } from '../../../shared/errors.js';
import type { Redis } from '../../../shared/redis/client.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import { createTally } from '../../../shared/tools/tally.js';

/**
 * Admits an ingest of a caller. Returns a function that ends its admission; from then on the ingest counts by its record.
 * @throws TooManyError, TryLaterError
 */
export type Admit = (callerId: string) => Promise<() => void>;

export interface AdmissionLimits {
  /** The maximum number of documents that wait or are being ingested, for all callers together and for one. */
  readonly maxWaiting: number;
  readonly maxWaitingPerCaller: number;
}

/**
 * Long enough for a busy service to make progress, and far shorter than the work on thousands of waiting documents, so
 * that workers never become idle while callers stay away. It is fixed, because no process knows the pace of all workers.
 */
const RETRY_LATER = { retryAfterSeconds: 30 };

/**
 * Refuses ingests while too many are unfinished, or while Redis is nearly full; searches, deletions and revocations need
 * the memory that is left. The counts in Redis are exact, and what this process has admitted is added until it is in
 * them. Other processes may admit as many at the same moment.
 */
export function createAdmission(redis: Redis, limits: AdmissionLimits, memory: MemoryWatch): Admit {
  const arriving = createArriving();
  return async (callerId) => {
    // This is taken before the counts are read, so that each earlier ingest is in one of them.
    const before = arriving.figures(callerId);
    const leave = arriving.enter(callerId);
    try {
      const [all, own, full] = await Promise.all([
        countUnfinishedIngests(redis),
        countUnfinishedIngestsOf(redis, callerId),
        memory.isShort(),
      ]);
      if (own + before.own >= limits.maxWaitingPerCaller)
        throw new TooManyError('Too many of your documents are waiting to be ingested', RETRY_LATER);
      if (all + before.all >= limits.maxWaiting)
        throw new TryLaterError('Too many documents are waiting to be ingested', RETRY_LATER);
      if (full) throw new TryLaterError('There is no room for more documents', RETRY_LATER);
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

/** Counts requests that were admitted and whose records are not written yet; an upload may take minutes. */
function createArriving() {
  const byCaller = createTally();
  let all = 0;
  const add = (callerId: string, by: number) => {
    all += by;
    byCaller.add(callerId, by);
  };
  return {
    figures: (callerId: string) => ({ all, own: byCaller.of(callerId) }),
    /** Returns a function that ends the admission; calling it again does nothing. */
    enter: (callerId: string): (() => void) => {
      let isIn = true;
      add(callerId, 1);
      return () => {
        if (isIn) add(callerId, -1);
        isIn = false;
      };
    },
  };
}

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
