import { at } from '../../../shared/at.js';

/** Neighbouring columns with the same value. */
interface ColumnRange<Value> {
  readonly from: number;
  /** The column behind the last one. */
  to: number;
  readonly value: Value;
}

export interface ColumnRanges<Value> {
  /** Adds columns from left to right. Neighbours with the same value are joined. */
  add(from: number, to: number, value: Value): void;
  /** Returns the value of a column; undefined for none. It is found by halves, since a file may have many ranges and cells. */
  of(column: number): Value | undefined;
}

/** @param most of how many ranges values are kept */
export function createColumnRanges<Value>(most = Number.POSITIVE_INFINITY): ColumnRanges<Value> {
  const ranges: ColumnRange<Value>[] = [];
  return {
    add: (from, to, value) => {
      const last = ranges.at(-1);
      if (last?.to === from && last.value === value) last.to = to;
      else if (ranges.length < most) ranges.push({ from, to, value });
    },
    of: (column) => {
      let [low, high] = [0, ranges.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (at(ranges, middle).to <= column) low = middle + 1;
        else high = middle;
      }
      const range = ranges[low];
      return range && range.from <= column ? range.value : undefined;
    },
  };
}
