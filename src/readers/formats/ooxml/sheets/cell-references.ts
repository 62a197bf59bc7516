import { at } from '../../../../shared/at.js';

/** The number of the column XFD. */
export const LAST_COLUMN = 16_384;
const LAST_ROW = 1_048_576;

/** The number of a column by its letters, from 1; undefined beyond the last column. */
function columnNumber(letters: string): number | undefined {
  let number = 0;
  for (const letter of letters.slice(0, 4)) number = number * 26 + letter.charCodeAt(0) - 64;
  return number >= 1 && number <= LAST_COLUMN ? number : undefined;
}

export function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

export interface CellReference {
  readonly column: number;
  readonly row: number;
}

/** Reads a reference such as `B12`; undefined when it is none. */
export function cellReference(text: string): CellReference | undefined {
  const match = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(text);
  if (!match) return undefined;
  const column = columnNumber(at(match, 1));
  const row = Number(at(match, 2));
  return column === undefined || row < 1 || row > LAST_ROW ? undefined : { column, row };
}

export interface CellRange {
  readonly first: CellReference;
  readonly last: CellReference;
}

/** Reads a range such as `A1:C3`, or one cell. */
export function cellRange(text: string | undefined): CellRange | undefined {
  if (text === undefined) return undefined;
  const [start = '', end = start] = text.split(':');
  const first = cellReference(start);
  const last = cellReference(end);
  return first && last ? { first, last } : undefined;
}

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
