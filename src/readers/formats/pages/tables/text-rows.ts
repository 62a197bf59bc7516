import { at } from '../../../../shared/at.js';
import { bottomOf, type Piece } from '../layout/piece.js';

const NUMERIC = /^[-–—−+.,\d\s%$€£():/*<>≥≤=~±]+$/;

export const isNumeric = (text: string): boolean => NUMERIC.test(text) && /[\d–—−-]/.test(text);

/** A line of a table: its texts by their columns. */
export interface TextLine {
  readonly pieces: readonly Piece[];
  readonly columns: readonly number[];
}

interface Band {
  readonly lines: readonly TextLine[];
  readonly top: number;
  readonly bottom: number;
}

/** The share of rows of several lines in which some columns have fewer. */
const MIN_UNEVEN = 0.6;

/** Groups lines that are the lines of the cells of one row; each is a row of its own where nothing tells. */
export function textRows(lines: readonly TextLine[]): (readonly TextLine[])[] {
  const bands = lines.map(bandOf);
  return byGaps(bands) ?? byContinuation(bands.map((band) => band.lines));
}

function bandOf(line: TextLine): Band {
  const top = Math.min(...line.pieces.map(({ y }) => y));
  return { lines: [line], top, bottom: Math.max(...line.pieces.map(bottomOf)) };
}

/** Groups lines by the gaps between them, where gaps between rows are wider than gaps within. */
function byGaps(bands: readonly Band[]): (readonly TextLine[])[] | undefined {
  const size = Math.max(
    1,
    ...bands
      .flatMap(({ lines }) => lines.flatMap(({ pieces }) => pieces.map((piece) => piece.size)))
      .slice(0, 100),
  );
  const groups = groupByGaps(bands, size)?.map((rows) => rows.flatMap(({ lines }) => lines));
  return groups && areRows(groups) ? groups : undefined;
}

/** Tells whether groups of lines are rows: in most, columns have more lines than others, and no numbers stand below each other. */
function areRows(groups: readonly (readonly TextLine[])[]): boolean {
  const taller = groups.filter((group) => group.length > 1).map((group) => [...countsOf(group).values()]);
  if (groups.length < 2 || taller.length === 0) return false;
  const uneven = taller.filter((counts) => counts.some(({ lines }) => lines !== counts[0]?.lines));
  return (
    uneven.length >= MIN_UNEVEN * taller.length &&
    taller.every((counts) => counts.every(({ numbers }) => numbers < 2))
  );
}

function countsOf(group: readonly TextLine[]): Map<number, { lines: number; numbers: number }> {
  const counts = new Map<number, { lines: number; numbers: number }>();
  for (const { pieces, columns } of group)
    for (const [index, column] of columns.entries()) {
      const count = counts.get(column) ?? { lines: 0, numbers: 0 };
      counts.set(column, {
        lines: count.lines + 1,
        numbers: count.numbers + (isNumeric(at(pieces, index).text) ? 1 : 0),
      });
    }
  return counts;
}

/** Joins lines that go on in the middle of a sentence with the row that they belong to. */
function byContinuation(lines: readonly (readonly TextLine[])[]): (readonly TextLine[])[] {
  const rows: TextLine[][] = [];
  for (const line of lines) {
    const last = rows.at(-1);
    if (last && continues(last, line)) last.push(...line);
    else rows.push([...line]);
  }
  return rows;
}

function continues(row: readonly TextLine[], line: readonly TextLine[]): boolean {
  const own = line.flatMap(({ pieces, columns }) =>
    pieces.map((piece, index) => ({ piece, column: at(columns, index) })),
  );
  const above = row.flatMap(({ pieces, columns }) =>
    pieces.map((piece, index) => ({ piece, column: at(columns, index) })),
  );
  const aboveIn = (column: number) => above.findLast((each) => each.column === column)?.piece;
  const isNear = own.every(({ piece }) => {
    const last = above.at(-1)?.piece;
    return last !== undefined && piece.y - bottomOf(last) < MAX_LEADING * piece.size;
  });
  if (!isNear) return false;
  const goesOn = (piece: Piece, before: Piece | undefined) =>
    before !== undefined &&
    /^\p{Ll}/u.test(piece.text) &&
    !/[.:;!?]$/.test(before.text) &&
    !isNumeric(before.text);
  const [first] = own;
  if (!first) return false;
  if (own.every(({ piece, column }) => goesOn(piece, aboveIn(column)))) return true;
  // The label of a row whose numbers stand beside its last line.
  const isLabel = above.every(({ column }) => column === first.column) && row.length <= 2;
  return (
    isLabel &&
    first.column === 0 &&
    goesOn(first.piece, aboveIn(0)) &&
    own.slice(1).every(({ piece }) => isNumeric(piece.text))
  );
}

/** Lines of a cell are less far apart, in sizes of their font, and rows farther than these by the second. */
const MAX_LEADING = 0.5;
const MIN_JUMP = 0.22;

/** The extent of lines on a page. */
interface Extent {
  readonly top: number;
  readonly bottom: number;
}

/**
 * Groups lines by the gaps between them, where gaps between rows are wider than gaps within; undefined where they are not.
 * @param lines from top to bottom
 * @param size of their font
 */
export function groupByGaps<Line extends Extent>(lines: readonly Line[], size: number): Line[][] | undefined {
  let bottom = -Infinity;
  const gaps = lines.map((line) => {
    const gap = (line.top - bottom) / size;
    bottom = Math.max(bottom, line.bottom);
    return gap;
  });
  const widest = widestWithin(gaps.slice(1));
  if (widest === undefined) return undefined;
  const groups: Line[][] = [];
  for (const [index, line] of lines.entries()) {
    const group = groups.at(-1);
    if (group && at(gaps, index) <= widest) group.push(line);
    else groups.push([line]);
  }
  return groups;
}

/** The widest gap within rows: that before the largest step to the next wider one. */
function widestWithin(gaps: readonly number[]): number | undefined {
  const sorted = gaps.toSorted((a, b) => a - b);
  let [jump, widest] = [0, 0];
  for (const [index, gap] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next === undefined || gap > MAX_LEADING) break;
    if (next - gap > jump) [jump, widest] = [next - gap, gap];
  }
  return jump < MIN_JUMP ? undefined : widest;
}

/** Tells whether the first word of a line had no room behind the line before it. */
export function hasNoRoom(before: Piece, line: Piece, width: number): boolean {
  const word = at(line.text.split(' '), 0);
  const needed = (line.width * (word.length + 1)) / line.text.length;
  return before.width + needed > width - 0.5 * line.size;
}
