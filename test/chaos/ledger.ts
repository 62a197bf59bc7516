/** The least and the greatest number of times that an operation of a caller may have been counted. */
export interface Bounds {
  min: number;
  max: number;
}

/** An answer that its process counts a moment later. */
interface Read {
  readonly caller: string;
  readonly operation: string;
  readonly api: string;
  /** In milliseconds of `performance.now`. */
  readonly at: number;
  isLost: boolean;
}

/** Longer than anything lasts that keeps a read from being stored. */
const REMEMBERED_MS = 60_000;

export type Ledger = ReturnType<typeof createLedger>;

/** Keeps the requests that the service has to account for; `operation` is a name of the usage statistics. */
export function createLedger() {
  const successes = new Map<string, Bounds>();
  const records = new Map<string, Bounds>();
  /** By document: events of ingests that name it. */
  const ingests = new Map<string, Bounds>();
  let reads: Read[] = [];
  const of = (map: Map<string, Bounds>, key: string): Bounds => {
    const known = map.get(key) ?? { min: 0, max: 0 };
    map.set(key, known);
    return known;
  };
  const key = (caller: string, operation: string) => `${caller} ${operation}`;
  return {
    /** The successes of `end` that are reads, of the last minute. */
    reads: (): readonly Readonly<Read>[] => reads,
    read: (caller: string, operation: string, api: string): void => {
      const at = performance.now();
      reads = reads.filter((each) => each.at > at - REMEMBERED_MS);
      reads.push({ caller, operation, api, at, isLost: false });
    },
    /** Marks answers of a time span as lost: the process that ended may not have stored their events. */
    lose: (lostBy: string, { from, to }: { readonly from: number; readonly to: number }): void => {
      for (const read of reads) {
        if (read.api !== lostBy || read.at < from || read.at > to || read.isLost) continue;
        read.isLost = true;
        of(successes, key(read.caller, read.operation)).min -= 1;
        of(records, key(read.caller, read.operation)).min -= 1;
      }
    },
    ingests,
    ingest: (document: string): Bounds => of(ingests, document),
    successes: (caller: string, operation: string): Bounds => of(successes, key(caller, operation)),
    records: (caller: string, operation: string): Bounds => of(records, key(caller, operation)),
    /** From when it is sent: it may be counted. */
    begin: (caller: string, operation: string): void => {
      of(successes, key(caller, operation)).max += 1;
      of(records, key(caller, operation)).max += 1;
    },
    /** It was answered with success, or will end in one record. */
    end: (caller: string, operation: string, outcome: 'success' | 'recorded' | 'refused'): void => {
      const [success, record] = [of(successes, key(caller, operation)), of(records, key(caller, operation))];
      if (outcome === 'refused') {
        success.max -= 1;
        record.max -= 1;
        return;
      }
      record.min += 1;
      if (outcome === 'success') success.min += 1;
    },
  };
}
