import type { Rectangle } from '../../blocks/location.js';
import { holds, type Piece } from '../pages/layout/piece.js';

/** A text that is recognized around another text, within this many points, is the same text. */
const AROUND = 2;
/** Texts of fewer characters are read though the page has them already, since they may stand for something else. */
const MIN_CHARACTERS = 4;

/**
 * Adds the texts that were recognized in a page's pictures to the texts of the page. The text of the file is kept, since
 * recognition misreads, above all text in another language. Only pages with few characters have pictures recognized, so
 * that each text can be compared with each.
 */
export function addRecognized(pieces: readonly Piece[], recognized: readonly Piece[]): readonly Piece[] {
  const known = wordsOf(pieces.map(textOf).join(' '));
  const others = recognized.filter(
    (piece) => !pieces.some((text) => overlap(text, piece)) && !isKnown(wordsOf(piece.text), known),
  );
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
  table ? table.flatMap(({ cells }) => cells).join(' ') : text;

/** The words of a text, each between spaces, so that none is found within another. */
const wordsOf = (text: string): string =>
  ` ${Array.from(text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu), ([word]) => word).join(' ')} `;

const isKnown = (words: string, known: string): boolean =>
  words.trim().length >= MIN_CHARACTERS && known.includes(words);
