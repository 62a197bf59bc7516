import type { GapCounter } from '../../gap-counter.js';
import { childrenOf, isTrue, wholeNumber } from '../../xml/elements.js';
import type { XmlElement } from '../../xml/stream-xml.js';
import { LAST_COLUMN, type CellRange } from '../cell-references.js';

interface PlaceOptions {
  readonly gaps: GapCounter;
  readonly sheet: string;
  readonly merged: readonly CellRange[];
}

/** Tells which cells are in hidden rows and columns. A merged cell that goes on beyond them is seen there. */
export function createHiddenPlaces({ gaps, sheet, merged }: PlaceOptions) {
  const options = { location: { sheet } };
  const ranges = new Map(merged.map((range) => [keyOf(range.first.column, range.first.row), range]));
  const counted = new Set<number>();
  let columns = createHiddenColumns(undefined);
  return {
    readColumns(element: XmlElement): void {
      columns = createHiddenColumns(element);
    },
    /** Tells whether a cell with content is read, as far as its column decides. */
    admitsColumn(column: number, row: number): boolean {
      if (!columns.areHidden(column, ranges.get(keyOf(column, row))?.last.column ?? column)) return true;
      const amount = counted.has(column) ? 0 : 1;
      counted.add(column);
      return gaps.admits('column', { ...options, amount });
    },
    /** The cells of a row that are read. */
    readable<Cell extends { readonly column: number }>(
      row: XmlElement,
      number: number,
      cells: readonly Cell[],
    ): readonly Cell[] {
      if (!isHidden(row, 'customHeight', 'ht')) return cells;
      const seen = cells.filter(({ column }) => {
        const range = ranges.get(keyOf(column, number));
        return range !== undefined && range.last.row > number;
      });
      return seen.length === cells.length || gaps.admits('row', options) ? cells : seen;
    },
  };
}

const keyOf = (column: number, row: number): number => row * (LAST_COLUMN + 1) + column;

/** Tells whether a row or column is hidden, or has the size zero. Not all programs keep a size that nobody has set. */
function isHidden(
  { attributes }: XmlElement,
  mark: 'customHeight' | 'customWidth',
  size: 'ht' | 'width',
): boolean {
  const stated = attributes[size]?.trim() ?? '';
  return isTrue(attributes['hidden']) || (isTrue(attributes[mark]) && stated !== '' && Number(stated) === 0);
}

function createHiddenColumns(columns: XmlElement | undefined) {
  const marks = new Uint8Array(LAST_COLUMN + 1);
  for (const column of childrenOf(columns, 'x:col')) {
    if (!isHidden(column, 'customWidth', 'width')) continue;
    const first = Math.max(1, wholeNumber(column.attributes['min']) ?? 1);
    const last = Math.min(LAST_COLUMN, wholeNumber(column.attributes['max']) ?? first);
    if (first <= last) marks.fill(1, first, last + 1);
  }
  /** The number of hidden columns up to each column. */
  const sums = new Uint16Array(LAST_COLUMN + 1);
  for (let column = 1; column <= LAST_COLUMN; column += 1)
    sums[column] = (sums[column - 1] ?? 0) + (marks[column] ?? 0);
  return {
    areHidden: (first: number, last: number): boolean =>
      (sums[last] ?? 0) - (sums[first - 1] ?? 0) === last - first + 1,
  };
}
