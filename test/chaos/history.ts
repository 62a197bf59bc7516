/** The events in order, with which a violation is reported. */
export interface HistoryEntry {
  /** Milliseconds since the run began. */
  readonly at: number;
  readonly what: string;
  /** The document or cache that it was about; null for events that concern all, such as faults. */
  readonly about: string | null;
}

export interface Violation {
  readonly promise: string;
  readonly detail: string;
  readonly about: string | null;
  readonly at: number;
}

export type History = ReturnType<typeof createHistory>;

export function createHistory() {
  const entries: HistoryEntry[] = [];
  const violations: Violation[] = [];
  /** The number of faults of each kind. */
  const faults = new Map<string, number>();
  const began = performance.now();
  const elapsed = () => Math.round(performance.now() - began);
  let ticks = 0;
  const note = (what: string, about: string | null = null): void => {
    entries.push({ at: elapsed(), what, about });
  };
  return {
    entries,
    faults,
    violations,
    elapsed,
    /** The time as the model counts it: no two events are at the same. */
    tick: () => (ticks += 1),
    note,
    fault: (kind: string, told: string): void => {
      faults.set(kind, (faults.get(kind) ?? 0) + 1);
      note(`fault: ${kind} ${told}`);
    },
    violate: (promise: string, detail: string, about: string | null = null): void => {
      violations.push({ promise, detail, about, at: elapsed() });
    },
  };
}
