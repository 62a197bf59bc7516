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

/** Admits as many of `wanted` ingests of a caller as there is room for, and says why it did not admit the others. */
export type AdmitSome = (callerId: string, wanted: number) => Promise<SomeAdmitted>;

export interface SomeAdmitted {
  readonly admitted: number;
  /** Null when all were admitted. */
  readonly refusal: TooManyError | TryLaterError | null;
  /** Ends the admission of all of them. */
  readonly leave: () => void;
}

export interface Admission {
  readonly admit: Admit;
  readonly admitSome: AdmitSome;
}

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
export function createAdmission(redis: Redis, limits: AdmissionLimits, memory: MemoryWatch): Admission {
  const arriving = createArriving();
  const admitSome: AdmitSome = async (callerId, wanted) => {
    // This is taken before the counts are read, so that each earlier ingest is in one of them.
    const before = arriving.figures(callerId);
    const arrival = arriving.enter(callerId, wanted);
    try {
      const [all, own, isFull] = await Promise.all([
        countUnfinishedIngests(redis),
        countUnfinishedIngestsOf(redis, callerId),
        memory.isShort(),
      ]);
      const { room, refusal } = roomFor({ all: all + before.all, own: own + before.own, isFull }, limits);
      const admitted = Math.min(wanted, room);
      arrival.reduceTo(admitted);
      return { admitted, refusal: admitted < wanted ? refusal : null, leave: () => arrival.reduceTo(0) };
    } catch (error) {
      arrival.reduceTo(0);
      throw error;
    }
  };
  return {
    admitSome,
    admit: async (callerId) => {
      const { refusal, leave } = await admitSome(callerId, 1);
      if (refusal) throw refusal;
      return leave;
    },
  };
}

interface Figures {
  readonly all: number;
  readonly own: number;
  /** Whether Redis is short of memory. */
  readonly isFull: boolean;
}

/** How many more documents there is room for, and why there is none for others. */
function roomFor({ all, own, isFull }: Figures, { maxWaiting, maxWaitingPerCaller }: AdmissionLimits) {
  const ofCaller = Math.max(0, maxWaitingPerCaller - own);
  const ofAll = Math.max(0, maxWaiting - all);
  if (ofCaller === 0 || (!isFull && ofCaller <= ofAll)) {
    const refusal = new TooManyError('Too many of your documents are waiting to be ingested', RETRY_LATER);
    return { room: ofCaller, refusal };
  }
  if (ofAll === 0 || !isFull) {
    const refusal = new TryLaterError('Too many documents are waiting to be ingested', RETRY_LATER);
    return { room: ofAll, refusal };
  }
  return { room: 0, refusal: new TryLaterError('There is no room for more documents', RETRY_LATER) };
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
    /** Counts as many requests, until their number is reduced. */
    enter: (callerId: string, count: number) => {
      let left = count;
      add(callerId, count);
      return {
        reduceTo: (number: number): void => {
          add(callerId, number - left);
          left = number;
        },
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
