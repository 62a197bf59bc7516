import { areAlike, WHITE, type Color } from '../../visibility/colors.js';
import type { Fill } from '../../visibility/layers.js';
import type { GapCounter, HiddenKind } from '../gap-counter.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf } from '../xml/elements.js';
import { cellRange, type CellRange } from './cell-references.js';

/** What letters look like. */
export interface FontLook {
  readonly color: Color | undefined;
  /** Whether they are too small to be read. */
  readonly isTiny: boolean;
}

/** A piece of the text of a cell, with a font of its own where it has one. */
export interface TextRun {
  readonly text: string;
  readonly font: FontLook | undefined;
}

/** A text of one font, or runs of several. */
export type CellText = string | readonly TextRun[];

interface Ground {
  readonly fill: Fill;
  /** Whether a rule for the look of cells, or a table, may give the cell another fill. */
  readonly isDressed: () => boolean;
}

/** Why text in a cell is not seen; undefined when it is. */
function reasonHidden({ color, isTiny }: FontLook, ground: Ground): HiddenKind | undefined {
  if (isTiny) return 'tiny';
  if (color === undefined || ground.fill === 'unknown') return undefined;
  const behind = ground.fill === 'none' ? WHITE : ground.fill;
  return areAlike(color, behind) && !ground.isDressed() ? 'background' : undefined;
}

/** The part of a cell's text that is read. */
export function readableText(text: CellText, font: FontLook, ground: Ground, gaps: GapCounter): string {
  const runs = typeof text === 'string' ? [{ text, font }] : text;
  return runs
    .filter((run) => {
      const kind = run.text.trim() === '' ? undefined : reasonHidden(run.font ?? font, ground);
      return kind === undefined || gaps.admits(kind, { amount: run.text.length });
    })
    .map((run) => run.text)
    .join('');
}

/** With more ranges than this, any cell may be in one. */
const MOST_RANGES = 100;

/** Tells of cells whether a table lies over them, or rules that may change their look. */
export type DressedCells = (column: number, row: number) => boolean;

/** @param conditional the ranges of rules for the look of cells */
export function createDressedCells(
  office: OfficePackage,
  part: string,
  conditional: readonly CellRange[],
): DressedCells {
  const relations = office.relations(part);
  // A sheet may have a picture behind its cells.
  if (relations.some(({ type }) => type === 'image')) return () => true;
  const tables = relations
    .filter(({ type }) => type === 'table' || type === 'pivotTable')
    .slice(0, MOST_RANGES)
    .flatMap(({ type, target }) => {
      const tree = office.tree(target);
      const place = type === 'table' ? tree : childOf(tree, 'x:location');
      return cellRange(place?.attributes['ref']) ?? [];
    });
  const ranges = [...tables, ...conditional];
  if (ranges.length > MOST_RANGES) return () => true;
  return (column, row) =>
    ranges.some(
      ({ first, last }) =>
        column >= first.column && column <= last.column && row >= first.row && row <= last.row,
    );
}
