import type { Piece } from '../layout/piece.js';

/** Lines of a cell are less far apart, in sizes of their font, and rows farther than these by the second. */
export const MAX_LEADING = 0.5;
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
    if (group && (gaps[index] ?? 0) <= widest) group.push(line);
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
  const word = line.text.split(' ')[0] ?? '';
  const needed = (line.width * (word.length + 1)) / line.text.length;
  return before.width + needed > width - 0.5 * line.size;
}
