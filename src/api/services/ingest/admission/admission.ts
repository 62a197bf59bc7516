import { addTo, at, sumOf } from '../../../../shared/at.js';
import {
  countUnfinishedIngests,
  countUnfinishedIngestsOf,
  readUnfinishedIngests,
  type UnfinishedIngests,
} from '../../../../shared/documents/counts.js';
import { TooManyError, TryLaterError } from '../../../../shared/errors.js';
import type { Redis } from '../../../../shared/redis/client.js';
import { toMember } from '../../../../shared/redis/keys.js';
import type { MemoryWatch, Shortage } from '../../../../shared/redis/memory.js';
import { coalesceRuns } from '../../../../shared/tools/coalesce-runs.js';
import { createTally } from '../../../../shared/tools/tally.js';
import { noRoomFor, RETRY_LATER } from './require-room.js';

/** Admits an ingest of a caller. @throws TooManyError, TryLaterError */
export type Admit = (callerId: string) => Promise<Arrival>;

/** Admits as many of `wanted` ingests of a caller as there is room for, and says why it did not admit the others. */
export type AdmitSome = (callerId: string, wanted: number) => Promise<SomeAdmitted>;

export interface SomeAdmitted {
  readonly admitted: number;
  /** Null when all were admitted. */
  readonly refusal: TooManyError | TryLaterError | null;
  /** The arrival of all admitted documents. */
  readonly arrival: Arrival;
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
 * Refuses ingests while too many are unfinished, or while Redis is nearly full; searches, deletions and revocations need
 * the memory that is left. The counts in Redis are exact, and the documents that this process has admitted are added until
 * they are in them. Other processes may admit as many at the same moment.
 */
export function createAdmission(redis: Redis, limits: AdmissionLimits, memory: MemoryWatch): Admission {
  const arrivals = createArrivals();
  const countOnce = createCountOnce(redis, arrivals);
  const admitSome: AdmitSome = async (callerId, wanted) => {
    // This is taken before the counts are read, so that each earlier ingest is in one of them, or for a moment in both.
    const before = arrivals.figures(callerId);
    const arrival = arrivals.enter(callerId, wanted);
    try {
      const [all, own, shortage] = await Promise.all([
        countUnfinishedIngests(redis),
        countUnfinishedIngestsOf(redis, callerId),
        memory.shortage(),
      ]);
      let found = roomFor({ all: all + before.all, own: own + before.own, shortage }, limits);
      // Near a limit it matters that each counts once. Documents in Redis take their room in any case.
      const most = Math.min(wanted, roomFor({ all, own, shortage }, limits).room);
      if (found.room < most) found = roomFor({ ...(await countOnce(arrival)), shortage }, limits);
      const admitted = Math.min(wanted, found.room);
      arrival.reduceTo(admitted);
      return { admitted, refusal: admitted < wanted ? found.refusal : null, arrival };
    } catch (error) {
      arrival.leave();
      throw error;
    }
  };
  return {
    admitSome,
    admit: async (callerId) => {
      const { refusal, arrival } = await admitSome(callerId, 1);
      if (!refusal) return arrival;
      arrival.leave();
      throw refusal;
    },
  };
}

interface Figures {
  readonly all: number;
  readonly own: number;
  /** The resource that Redis is short of. */
  readonly shortage: Shortage | null;
}

/** Returns the number of further documents that there is room for, and the reason why there is none for others. */
function roomFor({ all, own, shortage }: Figures, { maxWaiting, maxWaitingPerCaller }: AdmissionLimits) {
  const ofCaller = Math.max(0, maxWaitingPerCaller - own);
  const ofAll = Math.max(0, maxWaiting - all);
  if (ofCaller === 0 || (!shortage && ofCaller <= ofAll)) {
    const refusal = new TooManyError('Too many of your documents are waiting to be ingested', RETRY_LATER);
    return { room: ofCaller, refusal };
  }
  if (ofAll === 0 || !shortage) {
    const refusal = new TryLaterError('Too many documents are waiting to be ingested', RETRY_LATER);
    return { room: ofAll, refusal };
  }
  return { room: 0, refusal: noRoomFor('more documents', shortage) };
}

/**
 * Counts the unfinished ingests and the arrivals that came before this one, of all callers and of its own. A document that
 * such an arrival has named and that Redis counts already is counted once.
 */
type CountOnce = (arrival: Entered) => Promise<Arriving>;

/** Callers who ask while Redis is being read share the next read, which names each document that is being written. */
function createCountOnce(redis: Redis, arrivals: Pick<Arrivals, 'present'>): CountOnce {
  let asking = new Map<Entered, Arriving | null>();
  const runs = coalesceRuns(async () => {
    const asked = asking;
    asking = new Map();
    const callers = [...new Set([...asked.keys()].map(({ callerId }) => callerId))];
    // The line stays as it is at this moment: an arrival that leaves from now on has written its records by then, or will
    // not.
    const line = lineUp(arrivals.present());
    const named = line.flatMap((each) => each.named);
    countInOrder(asked, line, { callers, ...(await readUnfinishedIngests(redis, callers, named)) });
  });
  return async (arrival) => {
    const asked = asking.set(arrival, null);
    await runs.wait();
    const figures = asked.get(arrival);
    if (!figures) throw new Error('an arrival that asks is not among those that are present');
    return figures;
  };
}

interface InLine {
  readonly arrival: object;
  readonly callerId: string;
  readonly count: number;
  readonly named: readonly string[];
}

const lineUp = (present: ReturnType<Arrivals['present']>): InLine[] =>
  Array.from(present, (arrival) => {
    const { callerId, count, named } = arrival;
    return { arrival, callerId, count, named: [...named] };
  });

/** Tells each of the asking arrivals how many documents are before it. */
function countInOrder(
  asked: Map<object, Arriving | null>,
  line: readonly InLine[],
  { callers, all: allCounted, own, countedOf }: UnfinishedIngests & { readonly callers: readonly string[] },
): void {
  let all = allCounted;
  const byCaller = new Map(callers.map((caller, i) => [caller, at(own, i)]));
  let next = 0;
  for (const { arrival, callerId, count, named } of line) {
    if (asked.has(arrival)) asked.set(arrival, { all, own: sumOf(byCaller, callerId) });
    const counted = countedOf.slice(next, next + named.length).filter((member) => member !== null);
    next += named.length;
    all += count - counted.length;
    const countedOwn = counted.filter((member) => member === toMember(callerId)).length;
    if (byCaller.has(callerId)) addTo(byCaller, callerId, count - countedOwn);
  }
}

/** An admitted request, until it leaves. It stands for one document, or for several of a batch. */
export interface Arrival {
  /**
   * Names a document just before this request writes it: from then on it is known when its record counts it, too. Near a
   * limit, each document that is named is looked up, so that an upload is not named while it is received.
   */
  becomes(documentId: string): void;
  /** Ends the admission. From then on the documents of the request count by their records. */
  leave(): void;
}

interface Entered extends Arrival, Readonly<Present> {
  /** Lets it stand for fewer documents from now on. */
  reduceTo(count: number): void;
}

interface Present {
  readonly callerId: string;
  count: number;
  /** The documents that it has named. */
  readonly named: readonly string[];
}

/** The numbers of documents that arrive, of all callers and of one. */
interface Arriving {
  readonly all: number;
  readonly own: number;
}

interface Arrivals {
  figures(callerId: string): Arriving;
  enter(callerId: string, count: number): Entered;
  /** Returns the arrivals that have not left, in the order in which they came. */
  present(): Iterable<Readonly<Present>>;
}

/** Counts requests that were admitted and whose records are not written yet, or were just now; an upload may take minutes. */
function createArrivals(): Arrivals {
  const byCaller = createTally();
  let all = 0;
  const present = new Set<Present>();
  const setCount = (each: Present, count: number) => {
    all += count - each.count;
    byCaller.add(each.callerId, count - each.count);
    each.count = count;
  };
  return {
    figures: (callerId) => ({ all, own: byCaller.of(callerId) }),
    present: () => present,
    enter: (callerId, count) => {
      const named: string[] = [];
      const entered = {
        callerId,
        count: 0,
        named,
        becomes: (documentId: string) => void named.push(documentId),
        reduceTo: (left: number) => {
          setCount(entered, left);
        },
        leave: () => {
          setCount(entered, 0);
          present.delete(entered);
        },
      };
      present.add(entered);
      setCount(entered, count);
      return entered;
    },
  };
}
