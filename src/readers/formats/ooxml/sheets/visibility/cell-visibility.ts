import { writePieces, type Piece } from '../../../baseline/pieces.js';
import { areAlike, WHITE, type Color } from '../../../visibility/colors.js';
import type { Fill } from '../../../visibility/layers.js';
import type { GapCounter, HiddenKind } from '../../gap-counter.js';
import type { OfficePackage } from '../../package/office-package.js';
import { childOf } from '../../xml/elements.js';
import type { XmlElement } from '../../xml/stream-xml.js';
import { cellRange, type CellRange } from '../cell-references.js';

/** The look of letters. */
export interface FontLook {
  readonly color: Color | undefined;
  /** True if they are too small to be read. */
  readonly isTiny: boolean;
  /** The name of the font. */
  readonly name?: string | undefined;
}

/** A piece of the text of a cell, with a font of its own where it has one. */
export interface TextRun extends Piece {
  readonly font: FontLook | undefined;
}

/** A text of one font, or runs of several. */
export type CellText = string | readonly TextRun[];

interface Ground {
  readonly fill: Fill;
  /**
   * Tells whether text may be seen on something else: a fill by a rule for the look of cells or by a table, or an empty
   * cell beside it.
   */
  readonly isDressed: () => boolean;
}

/** Returns the reason why text in a cell is not seen; undefined when it is seen. */
function reasonHidden({ color, isTiny }: FontLook, ground: Ground): HiddenKind | undefined {
  if (isTiny) return 'tiny';
  if (color === undefined || ground.fill === 'unknown') return undefined;
  const behind = ground.fill === 'none' ? WHITE : ground.fill;
  return areAlike(color, behind) && !ground.isDressed() ? 'background' : undefined;
}

/** The part of a cell's text that is read. */
export function readableText(text: CellText, font: FontLook, ground: Ground, gaps: GapCounter): string {
  const runs = typeof text === 'string' ? [{ text, font, shifts: [] }] : text;
  const read = runs.filter((run) => {
    const kind = run.text.trim() === '' ? undefined : reasonHidden(run.font ?? font, ground);
    return kind === undefined || gaps.admits(kind, { amount: run.text.length });
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
