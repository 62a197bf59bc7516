import type { Block } from '../../../blocks/block.js';
import { tableBlocks } from '../../tables/table-blocks.js';
import { columnLetters, type CellRange } from './cell-references.js';
import { createRangeFilling } from './merged-ranges.js';
import type { SheetCell, SheetRow } from './sheet-rows.js';
import { at, textOrEmpty } from '../../../../shared/at.js';

/** Rows that are looked at before the first is written, to know which columns are in use. */
const ROWS_AHEAD = 1_000;
const CELLS_AHEAD = 100_000;
const MAX_NAME_LENGTH = 100;
const MAX_HEADER_ROWS = 3;

interface SheetOptions {
  readonly sheet: string;
  readonly merged: readonly CellRange[];
  /** Rows that the file itself calls the header of a table. */
  readonly headerRows: ReadonlySet<number>;
}

/**
 * Writes the rows of a sheet: rows with one cell before a table as lines, all others as tables under the names of their
 * columns.
 */
export function* sheetBlocks(
  rows: Iterable<SheetRow>,
  { sheet, merged, headerRows }: SheetOptions,
): Iterable<Block> {
  const source = rows[Symbol.iterator]();
  const ahead = readAhead(source);
  const columns = [...new Set(ahead.flatMap(({ cells }) => cells.map(({ column }) => column)))].sort(
    (a, b) => a - b,
  );
  const mergedAt = groupByRow(merged);
  const cursor = createCursor(ahead, source, createRangeFilling(merged, columns));
  for (let row = cursor.peek(); row; row = cursor.peek()) {
    if (row.cells.length === 1 && !headerRows.has(row.number)) {
      cursor.take();
      const isLast = (cursor.peek()?.cells.length ?? 2) > 1;
      yield { text: `${at(row.cells, 0).text}\n${isLast ? '\n' : ''}`, place: { sheet, row: row.number } };
      continue;
    }
    const count = headerRowCount(cursor, mergedAt, headerRows.has(row.number));
    const table = tableRows(cursor, { columns, sheet, header: count, headerRows });
    yield* tableBlocks(table, { headerRows: count });
  }
}

type Cursor = ReturnType<typeof createCursor>;

function readAhead(source: Iterator<SheetRow>): SheetRow[] {
  const rows: SheetRow[] = [];
  let cells = 0;
  while (rows.length < ROWS_AHEAD && cells < CELLS_AHEAD) {
    const next = source.next();
    if (next.done === true) break;
    rows.push(next.value);
    cells += next.value.cells.length;
  }
  return rows;
}

/** Goes through rows, with a look at the one after the next. */
function createCursor(
  ahead: readonly SheetRow[],
  source: Iterator<SheetRow>,
  fill: (row: SheetRow) => SheetRow,
) {
  let index = 0;
  const waiting: SheetRow[] = [];
  const load = (): void => {
    const known = ahead[index];
    index += 1;
    const next = known ? undefined : source.next();
    const row = known ?? (next?.done === true ? undefined : next?.value);
    if (row) waiting.push(fill(row));
  };
  return {
    peek(offset = 0): SheetRow | undefined {
      while (waiting.length <= offset) {
        const before = waiting.length;
        load();
        if (waiting.length === before) return undefined;
      }
      return waiting[offset];
    },
    take: (): SheetRow | undefined => waiting.shift(),
  };
}

interface TableOptions {
  readonly columns: readonly number[];
  readonly sheet: string;
  readonly header: number;
  readonly headerRows: ReadonlySet<number>;
}

/** The rows of one table, which ends where names of other columns begin. */
function* tableRows(cursor: Cursor, { columns, sheet, header, headerRows }: TableOptions) {
  let last = 0;
  for (let count = 0; ; count += 1) {
    const row = cursor.peek();
    if (!row) return;
    const isAfterGap = count > header && row.number > last + 1;
    if (
      count >= Math.max(1, header) &&
      (headerRows.has(row.number) || (isAfterGap && isNewHeader(row, cursor.peek(1))))
    )
      return;
    cursor.take();
    last = row.number;
    yield { cells: arrange(row.cells, columns), place: { sheet, row: row.number } };
  }
}

/** Puts texts under the columns in use. Those of other columns follow, with the letters of their column. */
function arrange(cells: readonly SheetCell[], columns: readonly number[]): string[] {
  const texts = new Map(cells.map(({ column, text }) => [column, text]));
  const arranged = columns.map((column) => textOrEmpty(texts, column));
  const known = new Set(columns);
  for (const { column, text } of cells)
    if (!known.has(column)) arranged.push(`${columnLetters(column)}: ${text}`);
  return arranged;
}

function groupByRow(ranges: readonly CellRange[]): ReadonlyMap<number, readonly CellRange[]> {
  const groups = new Map<number, CellRange[]>();
  for (const range of ranges) {
    const group = groups.get(range.first.row);
    if (group) group.push(range);
    else groups.set(range.first.row, [range]);
  }
  return groups;
}

/** Returns the number of next rows that name the columns. */
function headerRowCount(
  cursor: Cursor,
  mergedAt: ReadonlyMap<number, readonly CellRange[]>,
  isStated: boolean,
): number {
  const row = cursor.peek();
  if (!row || (!isStated && !areNames(row, cursor.peek(1)))) return 0;
  const own = mergedAt.get(row.number) ?? [];
  const deepest = own.reduce((most, { first, last }) => Math.max(most, last.row - first.row + 1), 1);
  const isGrouped = own.some(({ first, last }) => last.column > first.column && last.row === first.row);
  const second = cursor.peek(1);
  const isNamedTwice = isGrouped && second !== undefined && areNames(second, cursor.peek(2));
  return deepest <= MAX_HEADER_ROWS ? Math.max(deepest, isNamedTwice ? 2 : 1) : 1;
}

/** Names of columns are short texts, or years above other values. */
function areNames({ cells }: SheetRow, next: SheetRow | undefined): boolean {
  const below = new Map(next?.cells.map(({ column, text }) => [column, text]));
  const isName = ({ text, isNumber, column }: SheetCell): boolean => {
    if (!isNumber) return text.length <= MAX_NAME_LENGTH;
    const value = below.get(column);
    return isYear(text) && value !== undefined && !isYear(value);
  };
  return cells.length > 1 && cells.some(({ isNumber }) => !isNumber) && cells.every(isName);
}

const isYear = (text: string): boolean => /^(?:19|20)\d\d(?:-\d\d-\d\d)?$/.test(text);

/** After an empty row, names begin another table if they are bold, or stand above a number. */
function isNewHeader(row: SheetRow, next: SheetRow | undefined): boolean {
  if (!areNames(row, next)) return false;
  if (row.cells.every(({ isBold }) => isBold)) return next?.cells.every(({ isBold }) => isBold) !== true;
  const numbers = new Set(next?.cells.filter(({ isNumber }) => isNumber).map(({ column }) => column));
  return row.cells.some(({ column, isNumber }) => !isNumber && numbers.has(column));
}
