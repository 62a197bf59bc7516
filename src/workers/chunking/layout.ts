import { at } from '../../shared/at.js';
import { BORDER, borderAt } from './borders.js';

/** A row of a table, from its first character to the end of its line. */
export interface RowSpan {
  readonly start: number;
  readonly end: number;
  /** The lines that name the columns of its table; empty for these lines themselves. */
  readonly header: string;
}

/** The facts about a text beside its characters. All positions are in UTF-16 units, in ascending order. */
export interface Layout {
  /** The positions where chunks must begin. */
  readonly parts: readonly number[];
  /** The ends of headings, where their content begins. */
  readonly headingEnds: ReadonlySet<number>;
  readonly rows: readonly RowSpan[];
}

export const NO_LAYOUT: Layout = { parts: [], headingEnds: new Set(), rows: [] };

/** The worth of a border within a row, as a share of its worth in other text. Any border outside of rows is worth more. */
const IN_ROW = 0.01;
/** Every border outside of rows is worth at least this much. */
export const MIN_OUTSIDE = 0.1;

/** Judges the position between two characters as `borderAt` does, and keeps rows whole and headings with their content. */
export function borderWithin({ rows, headingEnds }: Layout, text: string, position: number): number {
  const border = borderAt(text, position);
  if (border > BORDER.word && headingEnds.has(position)) return BORDER.word;
  if (rows.length === 0) return border;
  const row = rowAt(rows, position);
  return row && row.start < position ? border * IN_ROW : border;
}

/** Returns the header that the chunk beginning at `position` must repeat, where it begins with a later row of a table. */
export function headerAt({ rows }: Layout, position: number): string {
  return rowAt(rows, position)?.header ?? '';
}

function rowAt(rows: readonly RowSpan[], position: number): RowSpan | undefined {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(rows, middle).end <= position) low = middle + 1;
    else high = middle;
  }
  const row = rows[low];
  return row && row.start <= position ? row : undefined;
}
