import { joinRun, rowsOf } from './lines.js';
import type { Rectangle } from '../../../../../shared/extraction/location.js';
import { around, bottomOf, median, rightOf, type Piece } from './piece.js';

/** Lines that belong together. */
export interface Paragraph {
  /** The text of its lines, each on a line of its own. */
  readonly text: string;
  readonly box: Rectangle;
  readonly size: number;
  readonly isBold: boolean;
  readonly lines: number;
  readonly table?: Piece['table'];
}

/** Parts the lines of a column into paragraphs, by gaps, sizes, and first lines that are set in. */
export function paragraphsOf(column: readonly Piece[]): Paragraph[] {
  const lines = rowsOf(column).map((row) => joinRun(row));
  const usual = usualGap(lines);
  const edges = { left: Math.min(...lines.slice(0, 5_000).map(({ x }) => x)) };
  const groups: Piece[][] = [];
  let last: Piece | undefined;
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && last && continues(last, line, { usual, left: edges.left })) group.push(line);
    else groups.push([line]);
    last = line;
  }
  return groups.map(toParagraph);
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

function continues(before: Piece, line: Piece, { usual, left }: { usual: number; left: number }): boolean {
  if (before.table ?? line.table) return false;
  const gap = (line.y - bottomOf(before)) / Math.max(line.size, before.size);
  if (gap > usual + 0.35) return false;
  const ratio = line.size / before.size;
  if (ratio > 1.15 || ratio < 0.87) return false;
  if (line.isBold !== before.isBold && Math.abs(rightOf(before) - rightOf(line)) > 2 * line.size)
    return false;
  const isSetIn = line.x - before.x > line.size && before.x - left < line.size;
  return !(isSetIn && /[.:!?。]["”»)]?$/.test(before.text));
}

function toParagraph(lines: readonly Piece[]): Paragraph {
  const text = lines.map((line) => line.text).join('\n');
  return {
    text: joinHyphens(text),
    box: around(lines),
    size: median(lines.map(({ size }) => size)),
    isBold: lines.every(({ isBold }) => isBold),
    lines: lines.length,
    table: lines[0]?.table,
  };
}

/** Joins words that are hyphenated at line ends. */
export function joinHyphens(text: string): string {
  return text.replace(/(\p{Ll})[-\u00ad\u0002]\n(\p{Ll})/gu, '$1$2');
}
