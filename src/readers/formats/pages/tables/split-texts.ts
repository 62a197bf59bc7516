import { charactersWide, WIDE } from '../layout/unspaced-lines.js';
import { rightOf, type Piece } from '../layout/piece.js';
import { placeIn, type Grid } from './grid.js';
import { isRuled } from './rulings.js';
import { isNumeric } from './text-rows.js';

/** The space at which a text is split stands no farther from the edge between columns, in sizes of its font. */
const FARTHEST_SPACE = 1.5;
/** The same for the place between two characters of scripts without spaces. */
const FARTHEST_CHARACTER = 0.6;
const BETWEEN = new RegExp(` |(?<=${WIDE})(?=${WIDE})`, 'gu');

interface Space {
  readonly from: number;
  readonly to: number;
}
const MIN_CROSSED = 2;

/**
 * Splits texts that the reader joined across columns: at a line, and numbers also where only the texts above and below part
 * the columns. Where its words stand is told by their share of the characters.
 */
export function splitTexts(grid: Grid, pieces: readonly Piece[]): Piece[] {
  const rowOf = ({ y, height }: Piece) => placeIn(grid.rows, y + height / 2);
  const counts = new Map<number, number>();
  for (const piece of pieces) counts.set(rowOf(piece), (counts.get(rowOf(piece)) ?? 0) + 1);
  return pieces.flatMap((piece) => {
    // A text alone in its row runs across the columns.
    if (piece.text.search(BETWEEN) < 0 || counts.get(rowOf(piece)) === 1) return [piece];
    const places = crossedEdges(grid, piece);
    return places.length === 0 ? [piece] : splitAt(piece, places);
  });
}

function crossedEdges({ columns, rows, rulings }: Grid, piece: Piece): number[] {
  const row = placeIn(rows, piece.y + piece.height / 2);
  const [from, to] = [rows[row]?.at ?? 0, rows[row + 1]?.at ?? 0];
  const areNumbers = piece.text.split(' ').every(isNumeric);
  return columns.slice(1, -1).flatMap(({ at, ...edge }) => {
    if (at < piece.x + MIN_CROSSED || at > rightOf(piece) - MIN_CROSSED) return [];
    const isParted = edge.isRuled ? isRuled(rulings.down, { at, from, to }) : areNumbers;
    return isParted ? [at] : [];
  });
}

function splitAt(piece: Piece, places: readonly number[]): Piece[] {
  const parts: Piece[] = [];
  let rest = piece;
  for (const at of places) {
    const { text, x, width, size } = rest;
    const character = width / charactersWide(text);
    const xAt = (index: number): number => x + charactersWide(text.slice(0, index)) * character;
    const spaces = [...text.matchAll(BETWEEN)].map(({ index, 0: { length } }) => ({
      from: index,
      to: index + length,
    }));
    const distance = ({ from, to }: Space) => Math.abs((xAt(from) + xAt(to)) / 2 - at);
    const space = spaces.toSorted((a, b) => distance(a) - distance(b))[0];
    const farthest = space?.from === space?.to ? FARTHEST_CHARACTER : FARTHEST_SPACE;
    if (!space || distance(space) > farthest * size) continue;
    const [right, left] = [Math.min(at, xAt(space.from)), Math.max(at, xAt(space.to))];
    parts.push({ ...rest, text: text.slice(0, space.from), width: right - x });
    rest = { ...rest, text: text.slice(space.to), x: left, width: rightOf(rest) - left };
  }
  return [...parts, rest];
}
