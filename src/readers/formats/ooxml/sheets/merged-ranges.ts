import { attribute } from '../../xml/read-markup.js';
import type { OfficePackage } from '../package/office-package.js';
import { createColumnRanges } from '../../tables/column-ranges.js';
import { childOf, childrenOf, textOf } from '../xml/elements.js';
import { cellRange, type CellRange } from './cell-references.js';
import type { SheetCell, SheetRow } from './sheet-rows.js';

const MAX_RANGES = 20_000;
/** Most merged cells that go through one row downwards. */
const MAX_AT_ONCE = 200;
/** A longer text is not repeated. */
const MAX_REPEATED = 100;
/** Most columns that are looked at to fill the rows of a sheet. */
const MAX_FILLED = 5_000_000;

interface SheetRanges {
  /** Merged cells, in the order of their first rows. */
  readonly merged: readonly CellRange[];
  /** Cells whose look depends on rules; undefined where a rule may be for any cell. */
  readonly conditional: readonly CellRange[] | undefined;
}

/** The ranges that stand behind the rows of a sheet, so that it is read once more. */
export function readRanges(office: OfficePackage, part: string): SheetRanges {
  const merged: CellRange[] = [];
  const conditional = createRuleRanges();
  if (!office.mentions(part, /mergeCell|conditionalFormatting/)) return { merged, conditional: [] };
  for (const event of office.stream(part, (name) => WHOLE.has(name))) {
    if (event.type === 'open' && event.name === 'x:conditionalFormatting')
      conditional.add(attribute(event.attributes, 'sqref'));
    if (event.type !== 'element') continue;
    // Rules of newer kinds say it in an element.
    if (event.element.name === 'x14:conditionalFormatting')
      conditional.add(textOf(childOf(event.element, 'xm:sqref')));
    for (const { attributes } of childrenOf(event.element, 'x:mergeCell')) {
      const range = cellRange(attributes['ref']);
      if (range && merged.length < MAX_RANGES) merged.push(range);
    }
  }
  return { merged: merged.sort((a, b) => a.first.row - b.first.row), conditional: conditional.ranges() };
}

const WHOLE: ReadonlySet<string> = new Set(['x:mergeCells', 'x14:conditionalFormatting']);

/** Collects ranges. One that cannot be read, such as whole columns, may be any. */
function createRuleRanges() {
  const ranges: CellRange[] = [];
  let isAny = false;
  return {
    add(text: string): void {
      for (const part of text.trim().split(/\s+/)) {
        const range = cellRange(part);
        isAny ||= range === undefined || ranges.length >= MAX_RANGES;
        if (range && !isAny) ranges.push(range);
      }
    },
    ranges: () => (isAny ? undefined : ranges),
  };
}

/**
 * Repeats the text of merged cells in the covered columns that hold something elsewhere, in each of their rows. A merged
 * cell that is alone in its row stands there once.
 */
export function createRangeFilling(ranges: readonly CellRange[], columns: readonly number[]) {
  let next = 0;
  let looked = 0;
  let active: { range: CellRange; cell: SheetCell | undefined }[] = [];
  let covered = coveredColumns(active);
  const advance = ({ number, cells }: SheetRow): void => {
    const rest = active.filter(({ range }) => range.last.row >= number);
    let isChanged = rest.length < active.length;
    active = rest;
    for (let range = ranges[next]; range && range.first.row <= number; range = ranges[next]) {
      const { column, row } = range.first;
      const cell = row === number ? cells.find((each) => each.column === column) : undefined;
      if (active.length < MAX_AT_ONCE && range.last.row >= number) active.push({ range, cell });
      next += 1;
      isChanged = true;
    }
    if (isChanged) covered = coveredColumns(active);
  };
  return (row: SheetRow): SheetRow => {
    advance(row);
    const others = row.cells.filter(({ column }) => !covered(column));
    const filled = active.filter(
      ({ cell, range }) => cell && (others.length > 0 || active.length > 1 || range.first.row === row.number),
    );
    looked += filled.length * columns.length;
    if (looked > MAX_FILLED || filled.length === 0 || others.length + filled.length < 2) return row;
    const cells = new Map(row.cells.map((cell) => [cell.column, cell]));
    for (const { range, cell } of filled)
      if (cell && cell.text.length <= MAX_REPEATED)
        for (const column of columns)
          if (covers(range, column) && !cells.has(column)) cells.set(column, { ...cell, column });
    return { ...row, cells: [...cells.values()].sort((a, b) => a.column - b.column) };
  };
}

/**
 * Tells which columns merged cells with a text cover. Ranges are joined when others begin or end, so that a cell need not be compared with
 * each of them.
 */
function coveredColumns(
  active: readonly { readonly range: CellRange; readonly cell: SheetCell | undefined }[],
): (column: number) => boolean {
  const ranges = createColumnRanges<true>();
  const sorted = active
    .filter(({ cell }) => cell)
    .sort((a, b) => a.range.first.column - b.range.first.column);
  let end = 0;
  for (const { range } of sorted) {
    const from = Math.max(end, range.first.column);
    end = Math.max(end, range.last.column + 1);
    if (from < end) ranges.add(from, end, true);
  }
  return (column) => ranges.of(column) === true;
}

const covers = ({ first, last }: CellRange, column: number): boolean =>
  column >= first.column && column <= last.column;
