/** What happened, in order: what a violation is told with. */
export interface HistoryEntry {
  /** Milliseconds since the run began. */
  readonly at: number;
  readonly what: string;
  /** Document or cache it was about; null for what concerns all, such as faults. */
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
  const began = performance.now();
  const elapsed = () => Math.round(performance.now() - began);
  let ticks = 0;
  return {
    entries,
    violations,
    elapsed,
    /** The time as the model counts it: no two events are at the same. */
    tick: () => (ticks += 1),
    note: (what: string, about: string | null = null): void => {
      entries.push({ at: elapsed(), what, about });
    },
    violate: (promise: string, detail: string, about: string | null = null): void => {
      violations.push({ promise, detail, about, at: elapsed() });
    },
  };
}
