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
