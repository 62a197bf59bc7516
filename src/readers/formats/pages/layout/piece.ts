import { countMatches } from '../../../blocks/matches.js';
import type { Rectangle } from '../../../blocks/location.js';

/** A run of text on a line of a page, or a whole table in place of its texts. */
export interface Piece extends Rectangle {
  readonly text: string;
  /** The size of its font in points. */
  readonly size: number;
  readonly isBold: boolean;
  /** True if it runs upwards, downwards or upside down on a page of upright text. */
  readonly isTurned?: boolean | undefined;
  /** The rows of a table; absent for text. */
  readonly table?: readonly TableRow[] | undefined;
  /** The columns of text that runs from top to bottom, which stand in its place; absent for other text. */
  readonly columns?: readonly Piece[] | undefined;
}

/** Tells whether a piece is more than one line, so that nothing else is on a line with it. */
export const standsAlone = ({ table, columns }: Pick<Piece, 'table' | 'columns'>): boolean =>
  table !== undefined || columns !== undefined;

export interface TableRow {
  readonly cells: readonly string[];
  readonly box: Rectangle | undefined;
}

/** Pieces that are farther apart, in sizes of their font, belong to different columns or cells. */
export const MAX_SPACE = 1.1;

export const rightOf = ({ x, width }: Pick<Rectangle, 'x' | 'width'>): number => x + width;
export const bottomOf = ({ y, height }: Rectangle): number => y + height;

/** The smallest rectangle around all of them. */
export function around(boxes: readonly Rectangle[]): Rectangle {
  const x = least(boxes.map((box) => box.x));
  const y = least(boxes.map((box) => box.y));
  const right = -least(boxes.map((box) => -rightOf(box)));
  const bottom = -least(boxes.map((box) => -bottomOf(box)));
  return { x, y, width: right - x, height: bottom - y };
}

/** Tells whether the middle of `inner` lies within `outer`. */
export function holds(outer: Rectangle, inner: Rectangle): boolean {
  const x = inner.x + inner.width / 2;
  const y = inner.y + inner.height / 2;
  return x >= outer.x && x <= rightOf(outer) && y >= outer.y && y <= bottomOf(outer);
}

/** Returns the letters and digits of texts, by which texts are compared. */
export const lettersOf = (texts: readonly string[]): string => texts.join('').replace(/[^\p{L}\p{N}]/gu, '');

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const least = (values: readonly number[]): number =>
  values.reduce((lowest, value) => Math.min(lowest, value), Infinity);

/** Tells whether most letters are of scripts that are written from right to left. */
export function isRightToLeft(text: string): boolean {
  // No letter of these scripts comes before.
  if (!/[\u0590-\uffff]/.test(text)) return false;
  const right = text.match(/[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/gu);
  return right !== null && right.length * 2 > countMatches(text, /\p{L}/gu);
}
