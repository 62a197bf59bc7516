import { at } from '../../../../shared/at.js';
import { LAST_COLUMN, type CellRange } from './cell-references.js';

/**
 * Tells which cells merged ones cover, of which programs show the first alone. Rows are asked for in their order; of any
 * before the last one nothing is known.
 */
export function createCoveredCells(ranges: readonly CellRange[]): (column: number, row: number) => boolean {
  /** The number of merged cells that go through each column of the row. */
  const counts = new Uint16Array(LAST_COLUMN + 1);
  let [next, current, firstEnd] = [0, 0, Infinity];
  let active: CellRange[] = [];
  let firsts = new Set<number>();
  const count = ({ first, last }: CellRange, change: number): void => {
    for (let column = first.column; column <= Math.min(last.column, LAST_COLUMN); column += 1)
      counts[column] = at(counts, column) + change;
  };
  const advance = (row: number): void => {
    [current, firsts] = [row, new Set()];
    if (row > firstEnd) {
      for (const range of active) if (range.last.row < row) count(range, -1);
      active = active.filter(({ last }) => last.row >= row);
      firstEnd = active.reduce((least, { last }) => Math.min(least, last.row), Infinity);
    }
    for (let range = ranges[next]; range && range.first.row <= row; range = ranges[next]) {
      next += 1;
      if (range.last.row < row) continue;
      count(range, 1);
      active.push(range);
      firstEnd = Math.min(firstEnd, range.last.row);
      if (range.first.row === row) firsts.add(range.first.column);
    }
  };
  return (column, row) => {
    if (row > current) advance(row);
    return row === current && at(counts, column) > 0 && !firsts.has(column);
  };
}
