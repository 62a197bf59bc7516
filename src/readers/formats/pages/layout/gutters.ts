import { median, rightOf, MAX_SPACE, type Piece } from './piece.js';
import { addTo } from '../../../../shared/at.js';

/** The least number of lines on both sides of a gutter, and the greatest share of lines that cross it in the rows between. */
const MIN_ROWS = 6;
const MAX_CROSSING = 0.35;
/** The narrowest gutter, in sizes of the font. */
const NARROWEST = 0.5;
/** Lines of a column with fewer characters are labels, numbers of a list, or cells. */
const MIN_CHARACTERS = 20;
/** The lines of a column begin within this many points of each other. */
const SAME_PLACE = 1.5;
const MAX_CANDIDATES = 24;

/**
 * Finds where columns begin to the right of a gutter that is as narrow as a space between words may be: many lines begin
 * there. @param rows pieces that stand at the same height, in the order of x
 */
export function guttersOf(rows: readonly (readonly Piece[])[]): readonly number[] {
  if (rows.length < MIN_ROWS) return [];
  const starts = new Map<number, number>();
  for (const row of rows)
    for (const [index, piece] of row.entries()) {
      const before = row[index - 1];
      if (!before || piece.x - rightOf(before) < NARROWEST * piece.size) continue;
      addTo(starts, Math.round(piece.x / SAME_PLACE));
    }
  return [...starts]
    .filter(([, count]) => count >= MIN_ROWS)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MAX_CANDIDATES)
    .map(([place]) => place * SAME_PLACE)
    .filter((x) => isGutter(rows, x));
}

/** Tells whether a column begins at a piece. */
export const isAtGutter = (gutters: readonly number[], piece: Piece): boolean =>
  gutters.some((x) => Math.abs(piece.x - x) <= SAME_PLACE);

function isGutter(rows: readonly (readonly Piece[])[], x: number): boolean {
  const edge = x - SAME_PLACE;
  const parted = rows.map((row) => ({
    before: charactersOf(lastRun(row.filter((piece) => rightOf(piece) <= edge))),
    after: charactersOf(row.filter((piece) => piece.x >= edge)),
    isCrossed: row.some((piece) => piece.x < edge && rightOf(piece) > edge),
  }));
  const isOnBothSides = ({ before, after, isCrossed }: (typeof parted)[number]) =>
    !isCrossed && before > 0 && after > 0;
  const [first, last] = [parted.findIndex(isOnBothSides), parted.findLastIndex(isOnBothSides)];
  const between = parted.slice(first, last + 1);
  const both = between.filter(isOnBothSides);
  const crossing = between.filter(({ isCrossed }) => isCrossed).length;
  return (
    both.length >= MIN_ROWS &&
    crossing <= MAX_CROSSING * both.length &&
    median(both.map(({ before }) => before)) >= MIN_CHARACTERS &&
    median(both.map(({ after }) => after)) >= MIN_CHARACTERS
  );
}

/** The pieces at the end of a row that no wide gap parts, so that a bullet is not taken for the column before it. */
function lastRun(row: readonly Piece[]): readonly Piece[] {
  const start = row.findLastIndex((piece, index) => {
    const before = row[index - 1];
    return !before || piece.x - rightOf(before) > MAX_SPACE * Math.max(piece.size, before.size);
  });
  return row.slice(start);
}

const charactersOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { text }) => sum + text.length, 0);
