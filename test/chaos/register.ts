/**
 * A value that several write at once, over a service that may die before it answers: which of its values somebody may
 * see is known only as a set. Times are the ticks of one clock, so that no two events are at the same time.
 */
export interface Write<Value> {
  readonly value: Value;
  readonly start: number;
  /** Infinity as long as it may still take effect. */
  end: number;
  /** `unknown`: it took effect or not, and may still do so until `end`. */
  outcome: 'unknown' | 'done' | 'undone';
}

export interface Register<Value> {
  readonly writes: readonly Write<Value>[];
  begin(value: Value, start: number): Write<Value>;
  /** Values that one who looks from `start` to `end` may see. */
  possible(start: number, end: number): Value[];
  /** Writes whose value one may see then. */
  candidates(start: number, end: number): Write<Value>[];
}

/**
 * A write is over for good once another was acknowledged that began after it had ended: every change of a record compares
 * the record's revision, so that a change which is still under way from before comes too late.
 */
export function createRegister<Value>(): Register<Value> {
  const writes: Write<Value>[] = [];
  const candidates = (start: number, end: number) => {
    const settled = writes.filter((write) => write.outcome === 'done' && write.end < start);
    const latest = Math.max(-1, ...settled.map((write) => write.start));
    return writes.filter((write) => write.outcome !== 'undone' && write.start < end && write.end >= latest);
  };
  return {
    writes,
    candidates,
    possible: (start, end) => candidates(start, end).map(({ value }) => value),
    begin: (value, start) => {
      const write: Write<Value> = { value, start, end: Infinity, outcome: 'unknown' };
      writes.push(write);
      return write;
    },
  };
}

/** Tells whether all possible values have a property, or none, or some. */
export function holds<Value>(
  values: readonly Value[],
  what: (value: Value) => boolean,
): 'always' | 'sometimes' | 'never' {
  const count = values.filter(what).length;
  if (count === 0) return 'never';
  return count === values.length ? 'always' : 'sometimes';
}
