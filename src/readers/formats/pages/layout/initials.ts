import { bottomOf, rightOf, standsAlone, type Piece } from './piece.js';

/** The least ratio of an initial's size to the size of the text that it begins. */
const MIN_RATIO = 1.8;
/** The least number of lines that it stands before. */
const MIN_LINES = 2;
/** The widest gap between it and its lines, in sizes of their font. */
const MAX_GAP = 1.5;

/** No page has more of them. */
const MAX_INITIALS = 50;

const INITIAL = /^["'“”„«‘’¿¡]?\p{Lu}$/u;

/** Puts large first letters, which reach over several lines, before the words that they begin. */
export function joinInitials(pieces: readonly Piece[]): readonly Piece[] {
  const initials = pieces
    .filter((piece) => !standsAlone(piece) && INITIAL.test(piece.text))
    .slice(0, MAX_INITIALS);
  const joined = new Map<Piece, Piece | undefined>();
  for (const initial of initials) {
    const lines = pieces.filter((piece) => isLineOf(initial, piece)).toSorted((a, b) => a.y - b.y);
    const [first, second] = [lines[0], lines[MIN_LINES - 1]];
    if (!first || !second || second.y - first.y < 0.5 * first.size) continue;
    const width = rightOf(first) - initial.x;
    joined.set(first, { ...first, text: initial.text + first.text, x: initial.x, width });
    joined.set(initial, undefined);
  }
  if (joined.size === 0) return pieces;
  return pieces.flatMap((piece) => (joined.has(piece) ? (joined.get(piece) ?? []) : piece));
}

/** Tells whether a text stands directly to the right of an initial, at its height. */
function isLineOf(initial: Piece, piece: Piece): boolean {
  const { x, y, height, size } = piece;
  const gap = x - rightOf(initial);
  const middle = y + height / 2;
  return (
    !standsAlone(piece) &&
    size * MIN_RATIO <= initial.size &&
    Math.abs(gap) < MAX_GAP * size &&
    middle > initial.y &&
    middle < bottomOf(initial)
  );
}
