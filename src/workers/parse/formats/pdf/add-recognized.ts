import type { Rectangle } from '../../../../shared/extraction/location.js';
import { holds, type Piece } from '../pages/layout/piece.js';

/** What is recognized around a text, in points, is that text. */
const AROUND = 2;
/** A page with more texts is left as it was read. */
const MOST_PIECES = 5_000;

/**
 * The texts of a page with those that were recognized in its pictures, beside them. What the file says itself is kept, since
 * recognition misreads, above all what is in another language.
 */
export function addRecognized(pieces: readonly Piece[], recognized: readonly Piece[]): readonly Piece[] {
  if (pieces.length > MOST_PIECES) return pieces;
  const known = compact(pieces.map(textOf).join(''));
  const others = recognized
    .slice(0, MOST_PIECES)
    .filter((piece) => !pieces.some((text) => overlap(text, piece)) && !isKnown(compact(piece.text), known));
  return [...pieces, ...others];
}

const overlap = (one: Piece, other: Piece): boolean =>
  holds(widened(one), other) || holds(widened(other), one);

const widened = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: x - AROUND,
  y: y - AROUND,
  width: width + 2 * AROUND,
  height: height + 2 * AROUND,
});

const textOf = ({ text, table }: Piece): string =>
  table ? table.flatMap(({ cells }) => cells).join('') : text;

const compact = (text: string): string => text.replace(/\s+/g, '').toLowerCase();

/** Tells whether a text of several characters stands on the page already. */
const isKnown = (text: string, known: string): boolean => text.length > 3 && known.includes(text);
