import { around, bottomOf, isRightToLeft, rightOf, type Piece } from './piece.js';

/** Pieces that are farther apart, in sizes of their font, belong to different columns or cells. */
const WIDEST_SPACE = 1.1;
/** A narrower gap, in sizes of the font, is no space between words. */
const NARROWEST_SPACE = 0.12;

/** Joins pieces that stand side by side on one line, as far as no wide gap parts them. From top to bottom. */
export function joinLines(pieces: readonly Piece[]): Piece[] {
  return rowsOf(pieces).flatMap(joinRow);
}

/** Groups pieces that stand at the same height. Each row is in the order of x. */
export function rowsOf(pieces: readonly Piece[]): Piece[][] {
  const rows: Piece[][] = [];
  let first: Piece | undefined;
  for (const piece of pieces.toSorted((a, b) => middleOf(a) - middleOf(b))) {
    const row = rows.at(-1);
    if (row && first && isBeside(first, piece)) {
      row.push(piece);
      if (piece.height > first.height) first = piece;
    } else {
      rows.push([piece]);
      first = piece;
    }
  }
  return rows.map((row) => row.toSorted((a, b) => a.x - b.x));
}

const middleOf = ({ y, height }: Piece): number => y + height / 2;

/** Tells whether two pieces share at least half of the lower one's height. Tables stand alone. */
function isBeside(one: Piece, other: Piece): boolean {
  if (one.table ?? other.table) return false;
  const shared = Math.min(bottomOf(one), bottomOf(other)) - Math.max(one.y, other.y);
  return shared >= Math.min(one.height, other.height) / 2;
}

function joinRow(row: readonly Piece[]): Piece[] {
  const runs: Piece[][] = [];
  for (const piece of row) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const isNear =
      last !== undefined && piece.x - rightOf(last) <= WIDEST_SPACE * Math.max(piece.size, last.size);
    if (run && isNear) run.push(piece);
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
