import { TooManyError, TryLaterError } from '../../../shared/errors.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys, toMember } from '../../../shared/redis/keys.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';

/**
 * Lets a caller's next ingest in. @returns what gives its place back: once its record is written, that is counted
 * @throws TooManyError, TryLaterError
 */
export type Admit = (callerId: string) => Promise<() => void>;

export interface AdmissionLimits {
  /** Documents being ingested, of all callers together, and of one. */
  readonly maxWaiting: number;
  readonly maxWaitingPerCaller: number;
}

/**
 * Long enough for a full service to get some of its work done; far less than it takes to get the thousands done that wait
 * then, so that nobody's coming back late leaves it idle. No process knows the pace at which all workers go on.
 */
const COME_AGAIN = { retryAfterSeconds: 30 };

/**
 * Refuses what could only be put at the end of a queue that is too long already, or into a Redis that is nearly full:
 * what is searched, deleted or closed to somebody must still find room. The counts are exact, and what this process has
 * let in counts until it is among them; other processes may let in as many at the same moment.
 */
export function createAdmission(redis: Redis, limits: AdmissionLimits, memory: MemoryWatch): Admit {
  const arriving = createArriving();
  return async (callerId) => {
    // Before the counts are read: whoever came first is counted here or there.
    const before = arriving.figures(callerId);
    const leave = arriving.enter(callerId);
    try {
      const [all, own, full] = await Promise.all([
        redis.hLen(keys.ingests),
        redis.zScore(keys.ingestsByCaller, toMember(callerId)),
        memory.isShort(),
      ]);
      if ((own ?? 0) + before.own >= limits.maxWaitingPerCaller)
        throw new TooManyError('Too many of your documents are waiting to be ingested', COME_AGAIN);
      if (all + before.all >= limits.maxWaiting)
        throw new TryLaterError('Too many documents are waiting to be ingested', COME_AGAIN);
      if (full) throw new TryLaterError('There is no room for more documents', COME_AGAIN);
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

/** Counts requests that were let in and are not written yet: an upload may take minutes. */
function createArriving() {
  const byCaller = new Map<string, number>();
  let all = 0;
  const add = (callerId: string, by: number) => {
    all += by;
    const own = (byCaller.get(callerId) ?? 0) + by;
    if (own === 0) byCaller.delete(callerId);
    else byCaller.set(callerId, own);
  };
  return {
    figures: (callerId: string) => ({ all, own: byCaller.get(callerId) ?? 0 }),
    /** @returns what ends it; again is the same */
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

/** Of what is left above the share, so much may be taken by what takes rights away and needs some room for it. */
const REVOCATION_RESERVE = 2 / 3;

/** What is not an ingest and makes Redis grow all the same. @throws TryLaterError */
export interface RequireRoom {
  /** @param what there is no room for, in the words of the caller */
  forGrowth(what: string): Promise<void>;
  /** For lists that got smaller, and are many ids still: they are stored anew before the old ones can go. */
  forRevocation(): Promise<void>;
}

export function createRequireRoom(memory: MemoryWatch): RequireRoom {
  return {
    forGrowth: async (what) => {
      if (await memory.isShort()) throw new TryLaterError(`There is no room for ${what}`, COME_AGAIN);
    },
    forRevocation: async () => {
      const { used, share, max } = await memory.state();
      if (used >= share + REVOCATION_RESERVE * (max - share))
        throw new TryLaterError('There is no room for access lists of more than 16 users', COME_AGAIN);
    },
  };
}
