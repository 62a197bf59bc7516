import { innerProduct } from '../../src/shared/data-set/stored-vectors.js';
import type { Vectors } from './embed-cached.js';
import type { ReaderName } from './readers.js';

/** Two orders of adding up differ by this much. */
const ROUNDING = 1e-6;
/** At least as many as are asked for. */
const DEPTH = 400;

/** The truth by exact inner products in single precision. */
export interface Truth {
  /** The share of the best `k` that is among the first `k` of these rows; as good as the last of the best counts as one. */
  recall(
    at: { readonly query: number; readonly reader: ReaderName; readonly k: number },
    rows: readonly number[],
  ): number;
}

/** Compares every query with all rows, for each reader. */
export function findTruth(
  vectors: Vectors,
  queries: readonly Float32Array[],
  readers: ReadonlyMap<ReaderName, ReadonlySet<number>>,
): Truth {
  /** The best scores of each query and reader, ascending. */
  const best = new Map<string, Float32Array>();
  const count = readers.get('all')?.size ?? 0;
  const scores = new Float32Array(count);
  for (const [query, vector] of queries.entries()) {
    for (let row = 0; row < count; row += 1) scores[row] = innerProduct(vector, vectors.at(row));
    for (const [reader, rows] of readers) {
      const sorted = Float32Array.from(rows, (row) => scores[row] ?? 0).sort();
      best.set(keyOf(query, reader), sorted.slice(-DEPTH));
    }
  }
  return {
    recall: ({ query, reader, k }, rows) => {
      const asked = queries[query] ?? new Float32Array();
      const sorted = best.get(keyOf(query, reader)) ?? new Float32Array();
      const bound = (sorted.at(-Math.min(k, sorted.length)) ?? Number.NaN) - ROUNDING;
      const found = new Set(rows.slice(0, k));
      const good = [...found].filter((row) => innerProduct(asked, vectors.at(row)) >= bound).length;
      return good / Math.min(k, readers.get(reader)?.size ?? 0);
    },
  };
}

const keyOf = (query: number, reader: ReaderName) => `${String(query)}:${reader}`;
