import { at } from '../../../../shared/at.js';
import { writePieces, type Piece } from '../../baseline/pieces.js';
import { WHITE } from '../../visibility/colors.js';
import type { Fill } from '../../visibility/layers.js';
import { reasonUnseen, type RunStyle } from '../../visibility/reason-unseen.js';
import type { GapCounter } from '../gap-counter.js';
import type { OfficePackage } from '../package/office-package.js';
import { wholeNumberOrZero, childOf, childrenOf, isTrue, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { cellRange, createCoveredCells, LAST_COLUMN, type CellRange } from './cell-references.js';
import { attribute } from '../../xml/read-markup.js';

/** The look of letters. */
export interface FontLook extends Pick<RunStyle, 'color' | 'size'> {
  /** The name of the font. */
  readonly name?: string | undefined;
}

/** A piece of the text of a cell, with a font of its own where it has one. */
export interface TextRun extends Piece {
  readonly font: FontLook | undefined;
}

/** A text of one font, or runs of several. */
export type CellText = string | readonly TextRun[];

/** The colour behind a text, which may reach over an empty cell, or be in a cell that a rule or a table fills otherwise. */
type Ground = Pick<RunStyle, 'behind' | 'isElsewhere'>;

/** The part of a cell's text that is read. */
export function readableText(text: CellText, font: FontLook, ground: Ground, gaps: GapCounter): string {
  const runs = typeof text === 'string' ? [{ text, font, shifts: [] }] : text;
  const read = runs.filter((run) => {
    const reason = run.text.trim() === '' ? undefined : reasonUnseen({ ...(run.font ?? font), ...ground });
    return reason === undefined || gaps.hidden.accepts(reason, run);
  });
  // Before they are raised, since `^` is a sign in these fonts.
  return writePieces(
    read.map((run) => ({ text: gaps.signs.read(run.text, (run.font ?? font).name), shifts: run.shifts })),
  );
}

/** With more ranges than this, any cell may be in one. */
const MAX_RANGES = 100;

/** Tells of cells whether a table lies over them, or rules that may change their look. */
export type DressedCells = (column: number, row: number) => boolean;

/**
 * A cell may have another look than it says where a table, a rule or a picture is, and anywhere where their place cannot be read.
 * @param conditional the ranges of rules for the look of cells; undefined where one may be for any cell
 */
export function createDressedCells(
  office: OfficePackage,
  part: string,
  conditional: readonly CellRange[] | undefined,
): DressedCells {
  const relations = office.relations(part);
  // A sheet may have a picture behind its cells.
  if (!conditional || relations.some(({ type }) => type === 'image')) return () => true;
  const tables = relations
    .filter(({ type }) => type === 'table' || type === 'pivotTable')
    .slice(0, MAX_RANGES + 1)
    .map(({ type, target }) => placeOf(type, office.tree(target)));
  const ranges = [...tables, ...conditional];
  if (ranges.length > MAX_RANGES || ranges.includes(undefined)) return () => true;
  return (column, row) => ranges.some((range) => range !== undefined && covers(range, column, row));
}

/**
 * Returns the range of a table; undefined where it is not known, as with the fields above a pivot table that choose what it
 * shows.
 */
function placeOf(type: string, tree: XmlElement | undefined): CellRange | undefined {
  if (type === 'table') return cellRange(tree?.attributes['ref']);
  return childOf(tree, 'x:pageFields')
    ? undefined
    : cellRange(childOf(tree, 'x:location')?.attributes['ref']);
}

const covers = ({ first, last }: CellRange, column: number, row: number): boolean =>
  column >= first.column && column <= last.column && row >= first.row && row <= last.row;

interface PlaceOptions {
  readonly gaps: GapCounter;
  readonly sheet: string;
  readonly merged: readonly CellRange[];
}

/** Tells which cells are in hidden rows and columns, or under others. A merged cell that goes on beyond them is seen there. */
export function createHiddenPlaces({ gaps, sheet, merged }: PlaceOptions) {
  const options = { location: { sheet } };
  const ranges = new Map(merged.map((range) => [keyOf(range.first.column, range.first.row), range]));
  const counted = new Set<number>();
  const isCovered = createCoveredCells(merged);
  let columns = createHiddenColumns(undefined);
  return {
    readColumns(element: XmlElement): void {
      columns = createHiddenColumns(element);
    },
    /** Tells whether a cell with content is read, as far as its column decides, or a merged cell over it. */
    admits({ column, text }: { readonly column: number; readonly text: string }, row: number): boolean {
      if (isCovered(column, row) && !gaps.hidden.accepts('merged', { text, ...options })) return false;
      if (!columns.areHidden(column, ranges.get(keyOf(column, row))?.last.column ?? column)) return true;
      if (counted.has(column)) return gaps.hidden.isRead;
      counted.add(column);
      return gaps.hidden.accepts('column', options);
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
      return seen.length === cells.length || gaps.hidden.accepts('row', options) ? cells : seen;
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
  const stated = attribute(attributes, size).trim();
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
    sums[column] = at(sums, column - 1) + at(marks, column);
  return {
    areHidden: (first: number, last: number): boolean =>
      last <= LAST_COLUMN && at(sums, last) - at(sums, first - 1) === last - first + 1,
  };
}

/** Tells whether a row has empty cells that are filled otherwise, on which a text may be seen that its cell has no room for. */
export function createNeighbours(fillOfStyle: (index: number) => Fill) {
  const fillOf = (style: string | undefined): Fill => {
    const fill = fillOfStyle(wholeNumberOrZero(style));
    return fill === 'none' ? WHITE : fill;
  };
  /** The fills of columns, which hold for cells that are not there. */
  const ofColumns = new Set<Fill>();
  const fillsIn = (row: XmlElement): ReadonlySet<Fill> => {
    const fills = new Set(ofColumns);
    if (isTrue(row.attributes['customFormat'])) fills.add(fillOf(row.attributes['s']));
    for (const cell of childrenOf(row, 'x:c'))
      if (!childOf(cell, 'x:v') && !childOf(cell, 'x:is')) fills.add(fillOf(cell.attributes['s']));
    return fills;
  };
  return {
    readColumns(columns: XmlElement): void {
      for (const { attributes } of childrenOf(columns, 'x:col'))
        if (attributes['style'] !== undefined) ofColumns.add(fillOf(attributes['style']));
    },
    inRow(row: XmlElement): (fill: Fill) => boolean {
      let fills: ReadonlySet<Fill> | undefined;
      return (fill) => {
        fills ??= fillsIn(row);
        const own = fill === 'none' ? WHITE : fill;
        return fills.size > 1 || (fills.size === 1 && !fills.has(own));
      };
    },
  };
}
