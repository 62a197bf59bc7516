import { guttersOf, isAtGutter } from './gutters.js';
import { around, isRightToLeft, rightOf, standsAlone, MAX_SPACE, type Piece } from './piece.js';

/** A narrower gap, in sizes of the font, is no space between words. */
const NARROWEST_SPACE = 0.12;
/** Raised and lowered letters stand off the middle of their line by less, in sizes of its font. */
const HIGHEST_SHIFT = 0.55;
/** The number of pieces of a row that are compared with a further one. */
const MAX_COMPARED = 100;

/** Joins pieces that stand side by side on one line, as far as no wide gap parts them. From top to bottom. */
export function joinLines(pieces: readonly Piece[]): Piece[] {
  const rows = rowsOf(pieces);
  const gutters = guttersOf(rows);
  return rows.flatMap((row) => joinRow(row, gutters));
}

/** Groups pieces that stand at the same height. Each row is in the order of x. */
export function rowsOf(pieces: readonly Piece[]): Piece[][] {
  const rows: Piece[][] = [];
  let largest: Piece | undefined;
  for (const piece of pieces.toSorted((a, b) => middleOf(a) - middleOf(b))) {
    const row = rows.at(-1);
    if (row && largest && isBeside(row, { largest, piece })) {
      row.push(piece);
      if (piece.size > largest.size) largest = piece;
    } else {
      rows.push([piece]);
      largest = piece;
    }
  }
  return rows.map((row) => row.toSorted((a, b) => a.x - b.x));
}

const middleOf = ({ y, height }: Piece): number => y + height / 2;

/** Tells whether a piece stands at the height of a row, and where the row has nothing yet. */
function isBeside(row: readonly Piece[], { largest, piece }: { largest: Piece; piece: Piece }): boolean {
  if (standsAlone(largest) || standsAlone(piece)) return false;
  if (Math.abs(middleOf(piece) - middleOf(largest)) > HIGHEST_SHIFT * largest.size) return false;
  if (isMark(piece)) return true;
  return row.slice(-MAX_COMPARED).every((other) => {
    if (isMark(other)) return true;
    const shared = Math.min(rightOf(piece), rightOf(other)) - Math.max(piece.x, other.x);
    return shared <= 0.3 * Math.min(piece.width, other.width);
  });
}

/** Tells whether a piece is only signs that stand above or below the letters of another one. */
const isMark = ({ text }: Piece): boolean => /^\p{M}+$/u.test(text);

function joinRow(row: readonly Piece[], gutters: readonly number[]): Piece[] {
  const runs: Piece[][] = [];
  for (const piece of row) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const isNear =
      last !== undefined && piece.x - rightOf(last) <= MAX_SPACE * Math.max(piece.size, last.size);
    if (run && isNear && !isAtGutter(gutters, piece)) run.push(piece);
    else runs.push([piece]);
  }
  return runs.map((run) => joinRun(run));
}

/** Joins pieces of one line into one, in the order in which they are read. */
export function joinRun(run: readonly Piece[]): Piece {
  const [only] = run;
  if (only && run.length === 1) return only;
  const ordered = isRightToLeft(run.map(({ text }) => text).join('')) ? run.toReversed() : run;
  let text = '';
  let last: Piece | undefined;
  for (const piece of ordered) {
    if (last && needsSpace(last, piece)) text += ' ';
    text += piece.text;
    last = piece;
  }
  const letters = run.reduce((sum, piece) => sum + piece.text.length, 0);
  const bold = run.reduce((sum, piece) => sum + (piece.isBold ? piece.text.length : 0), 0);
  const largest = run.reduce((size, piece) => Math.max(size, piece.size), 0);
  return { ...around(run), text: text.trim(), size: largest, isBold: bold * 2 > letters };
}

function needsSpace(before: Piece, after: Piece): boolean {
  const gap = Math.max(after.x - rightOf(before), before.x - rightOf(after));
  return gap > NARROWEST_SPACE * Math.min(before.size, after.size);
}
