import { createTally } from '../../../../shared/tools/tally.js';

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

export interface Entered extends Arrival, Readonly<Present> {
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
export interface Arriving {
  readonly all: number;
  readonly own: number;
}

export interface Arrivals {
  figures(callerId: string): Arriving;
  enter(callerId: string, count: number): Entered;
  /** Returns the arrivals that have not left, in the order in which they came. */
  present(): Iterable<Readonly<Present>>;
}

/** Counts requests that were admitted and whose records are not written yet, or were just now; an upload may take minutes. */
export function createArrivals(): Arrivals {
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
