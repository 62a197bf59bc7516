import { rightOf, type Piece } from '../layout/piece.js';
import { placeIn, type Grid } from './grid.js';
import { isRuled } from './rulings.js';
import { isNumeric } from './text-rows.js';

/** The space at which a text is split stands no farther from the edge between columns, in sizes of its font. */
const FARTHEST_SPACE = 1.5;
const LEAST_CROSSED = 2;

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
    if (!piece.text.includes(' ') || counts.get(rowOf(piece)) === 1) return [piece];
    const places = crossedEdges(grid, piece);
    return places.length === 0 ? [piece] : splitAt(piece, places);
  });
}

function crossedEdges({ columns, rows, rulings }: Grid, piece: Piece): number[] {
  const row = placeIn(rows, piece.y + piece.height / 2);
  const [from, to] = [rows[row]?.at ?? 0, rows[row + 1]?.at ?? 0];
  const areNumbers = piece.text.split(' ').every(isNumeric);
  return columns.slice(1, -1).flatMap(({ at, ...edge }) => {
    if (at < piece.x + LEAST_CROSSED || at > rightOf(piece) - LEAST_CROSSED) return [];
    const isParted = edge.isRuled ? isRuled(rulings.down, { at, from, to }) : areNumbers;
    return isParted ? [at] : [];
  });
}

function splitAt(piece: Piece, places: readonly number[]): Piece[] {
  const parts: Piece[] = [];
  let rest = piece;
  for (const at of places) {
    const character = rest.width / rest.text.length;
    const spaces = [...rest.text.matchAll(/ /g)].map(({ index }) => index);
    const distance = (space: number) => Math.abs(rest.x + (space + 0.5) * character - at);
    const space = spaces.toSorted((a, b) => distance(a) - distance(b))[0];
    if (space === undefined || distance(space) > FARTHEST_SPACE * rest.size) continue;
    const right = Math.min(at, rest.x + space * character);
    const left = Math.max(at, rest.x + (space + 1) * character);
    parts.push({ ...rest, text: rest.text.slice(0, space), width: right - rest.x });
    rest = { ...rest, text: rest.text.slice(space + 1), x: left, width: rightOf(rest) - left };
  }
  return [...parts, rest];
}
