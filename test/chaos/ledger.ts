/** The least and the greatest number of times that an operation of a caller may have been counted. */
export interface Bounds {
  min: number;
  max: number;
}

export type Ledger = ReturnType<typeof createLedger>;

/** The requests that the service has to account for; `operation` is a name of the usage statistics. */
export function createLedger() {
  const successes = new Map<string, Bounds>();
  const records = new Map<string, Bounds>();
  /** By document: events of ingests that name it. */
  const ingests = new Map<string, Bounds>();
  const of = (map: Map<string, Bounds>, key: string): Bounds => {
    const known = map.get(key) ?? { min: 0, max: 0 };
    map.set(key, known);
    return known;
  };
  const key = (caller: string, operation: string) => `${caller} ${operation}`;
  return {
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
