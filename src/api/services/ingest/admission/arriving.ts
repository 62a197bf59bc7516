import { createTally } from '../../../../shared/tools/tally.js';

/** An admitted request, until it leaves. It stands for one document, or for several of a batch. */
export interface Arrival {
  /** Names a document before this request writes it: from then on it is known when its record counts it, too. */
  becomes(documentId: string): void;
  /** Ends the admission. From then on what the request has written counts by its records. */
  leave(): void;
}

interface Entered extends Arrival {
  /** Lets it stand for fewer documents from now on. */
  reduceTo(count: number): void;
  /** The figures of those that came before, and the documents that these have named. */
  before(): Arriving & { readonly named: readonly string[] };
}

/** How many documents arrive, of all callers and of one. */
export interface Arriving {
  readonly all: number;
  readonly own: number;
}

/** Counts requests that were admitted and whose records are not written yet, or were just now; an upload may take minutes. */
export function createArrivals() {
  const byCaller = createTally();
  let all = 0;
  /** In the order in which they came. */
  const present = new Set<Present>();
  const setCount = (each: Present, count: number) => {
    all += count - each.count;
    byCaller.add(each.callerId, count - each.count);
    each.count = count;
  };
  return {
    figures: (callerId: string): Arriving => ({ all, own: byCaller.of(callerId) }),
    enter: (callerId: string, count: number): Entered => {
      const entered: Present = { callerId, count: 0, named: [] };
      present.add(entered);
      setCount(entered, count);
      return {
        becomes: (documentId) => void entered.named.push(documentId),
        reduceTo: (left) => {
          setCount(entered, left);
        },
        leave: () => {
          setCount(entered, 0);
          present.delete(entered);
        },
        before: () => sumBefore(present, entered),
      };
    },
  };
}

interface Present {
  readonly callerId: string;
  count: number;
  readonly named: string[];
}

function sumBefore(present: ReadonlySet<Present>, last: Present) {
  let [all, own] = [0, 0];
  const named: string[] = [];
  for (const each of present) {
    if (each === last) break;
    all += each.count;
    if (each.callerId === last.callerId) own += each.count;
    for (const documentId of each.named) named.push(documentId);
  }
  return { all, own, named };
}
