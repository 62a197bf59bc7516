import type { Exemplar, Labels } from './prometheus.js';
import { bucketOf } from './worker-metrics.js';

/** The newest exemplar of each bucket of a histogram, whose labels come from fixed sets. */
export function createExemplars() {
  const newest = new Map<string, Exemplar>();
  return {
    note: (labels: Labels, seconds: number, trace: Exemplar['labels'] | null): void => {
      if (trace)
        newest.set(keyOf({ ...labels, le: bucketOf(seconds) }), {
          labels: trace,
          value: seconds,
          atMs: Date.now(),
        });
    },
    /** By the labels of a bucket, `le` among them. */
    of: (labels: Labels): Exemplar | null => newest.get(keyOf(labels)) ?? null,
  };
}

const keyOf = (labels: Labels): string =>
  JSON.stringify(
    Object.entries(labels)
      .map(([name, value]) => [name, String(value)])
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
