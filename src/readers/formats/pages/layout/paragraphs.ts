import { joinRun, rowsOf } from './lines.js';
import type { Rectangle } from '../../../blocks/location.js';
import { around, bottomOf, isRightToLeft, median, rightOf, standsAlone, type Piece } from './piece.js';
import { joinParagraph } from './unspaced-lines.js';

/** Lines that belong together. */
export interface Paragraph {
  /** The text of its lines, each on a line of its own. */
  readonly text: string;
  readonly box: Rectangle;
  readonly size: number;
  readonly isBold: boolean;
  readonly lines: number;
  readonly table?: Piece['table'];
  readonly columns?: Piece['columns'];
}

/** Parts the lines of a column into paragraphs, by gaps, sizes, and first lines that are set in. */
export function paragraphsOf(column: readonly Piece[]): Paragraph[] {
  const lines = rowsOf(column).map((row) => joinRun(row));
  const usual = usualGap(lines);
  const some = lines.slice(0, 5_000);
  const edges = { left: Math.min(...some.map(({ x }) => x)), right: Math.max(...some.map(rightOf)) };
  const groups: Piece[][] = [];
  let last: Piece | undefined;
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && last && continues(last, line, { usual, ...edges })) group.push(line);
    else groups.push([line]);
    last = line;
  }
  return groups.map((group) => toParagraph(group, edges.right - edges.left));
}

/** The usual distance from the bottom of a line to the top of the next, in sizes of its font. */
function usualGap(lines: readonly Piece[]): number {
  const gaps = lines.flatMap((line, index) => {
    const before = lines[index - 1];
    return before ? [(line.y - bottomOf(before)) / line.size] : [];
  });
  const near = gaps.filter((gap) => gap < 1.5);
  return near.length === 0 ? 0.3 : median(near);
}

function continues(
  before: Piece,
  line: Piece,
  { usual, left, right }: { usual: number; left: number; right: number },
): boolean {
  if (standsAlone(before) || standsAlone(line)) return false;
  const gap = (line.y - bottomOf(before)) / Math.max(line.size, before.size);
  if (gap > usual + 0.35) return false;
  const ratio = line.size / before.size;
  if (ratio > 1.15 || ratio < 0.87) return false;
  const isEven = Math.abs(rightOf(before) - rightOf(line)) <= 2 * line.size;
  const room = isRightToLeft(line.text) ? before.x - left : right - rightOf(before);
  if (line.isBold !== before.isBold && !isEven && firstWord(line) < room) return false;
  const isSetIn = line.x - before.x > line.size && before.x - left < line.size;
  return !(isSetIn && /[.:!?。]["”»)]?$/.test(before.text));
}

/** The width of the first word of a line, and a space. */
function firstWord({ text, width }: Piece): number {
  const space = text.indexOf(' ');
  return space < 0 ? width : (width * (space + 1)) / text.length;
}

function toParagraph(lines: readonly Piece[], width: number): Paragraph {
  const text = joinParagraph(lines, width);
  return {
    text,
    box: around(lines),
    size: median(lines.map(({ size }) => size)),
    isBold: lines.every(({ isBold }) => isBold),
    lines: lines.length,
    table: lines[0]?.table,
    columns: lines[0]?.columns,
  };
}
