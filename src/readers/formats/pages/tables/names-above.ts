import { at } from '../../../../shared/at.js';
import type { Rectangle } from '../../../blocks/location.js';
import type { FoundCell } from './lost-texts.js';
import { joinRun, rowsOf } from '../layout/lines.js';
import { joinTexts } from '../layout/unspaced-lines.js';
import { around, bottomOf, rightOf, standsAlone, type Piece } from '../layout/piece.js';
import { segmentLines } from './text-columns.js';
import { isNumeric } from './text-rows.js';

/** Names of columns stand no farther above a table, and above each other, in sizes of their font. */
const FARTHEST = 1.2;
const MAX_LEADING = 0.6;
/** The number of lines, and of points above a table, that are looked at. */
const MAX_LINES = 6;
const HIGHEST = 100;
/** The share of columns that have names. */
const MIN_NAMED = 0.75;
const MIN_COLUMNS = 3;
const MAX_NAME_LENGTH = 40;

type Span = Pick<Rectangle, 'x' | 'width'>;
type Cells = readonly FoundCell[];

/**
 * The names of the columns of a table whose first row has numbers, where lines directly above it have a text for most
 * columns: a cell for each. @returns undefined where there are none
 */
export function namesAbove(
  table: readonly Cells[],
  { y }: Rectangle,
  pieces: readonly Piece[],
): Cells | undefined {
  const columns = columnsOf(table);
  if (columns.length < MIN_COLUMNS || !table[0]?.some(({ text }) => isNumeric(text))) return undefined;
  const own: Piece[][] = columns.map(() => []);
  let top = y;
  for (const line of linesAbove(y, pieces)) {
    const isFirst = own.every((texts) => texts.length === 0);
    const farthest = (isFirst ? FARTHEST : MAX_LEADING) * Math.max(...line.map(({ size }) => size));
    const places = line.map((piece) => placeOf(piece, columns, own));
    const isNear = top - bottomOf(around(line)) <= farthest;
    if (!isNear || !line.every(isName) || places.includes(undefined)) break;
    for (const [index, piece] of line.entries()) at(own, at(places, index)).push(piece);
    top = Math.min(top, around(line).y);
  }
  const named = own.filter((texts) => texts.length > 0).length;
  return named >= MIN_NAMED * columns.length ? own.map(cellOf) : undefined;
}

const isName = ({ text }: Piece): boolean => text.length <= MAX_NAME_LENGTH && !isNumeric(text);

/** The lines above a height, the nearest first. */
function linesAbove(y: number, pieces: readonly Piece[]): Piece[][] {
  const above = pieces.filter(
    (piece) => !piece.isTurned && bottomOf(piece) <= y + 1 && piece.y > y - HIGHEST,
  );
  return above.some(standsAlone) ? [] : segmentLines(above).toReversed().slice(0, MAX_LINES);
}

function columnsOf(table: readonly Cells[]): Span[] {
  const count = Math.max(0, ...table.slice(0, 1_000).map((row) => row.length));
  const columns = Array.from({ length: count }, (_, at) => {
    const boxes = table.flatMap((row) => row[at]?.bbox ?? []);
    return boxes.length > 0 ? [around(boxes)] : [];
  }).flat();
  return columns.length === count ? columns : [];
}

/** The only column over which a text stands, or the free one beside it. */
function placeOf(
  piece: Piece,
  columns: readonly Span[],
  own: readonly (readonly Piece[])[],
): number | undefined {
  const over = columns.flatMap((column, at) => (shared(piece, column) > 1 ? [at] : []));
  if (over.length > 0) return over.length === 1 ? over[0] : undefined;
  const after = columns.findIndex(({ x }) => x >= rightOf(piece) - 1);
  const last = after < 0 ? columns.length - 1 : after - 1;
  // A further line of a name stands above or below the first one.
  const isFree = (at: number) => own[at]?.every((text) => shared(text, piece) > 1) === true;
  return [last, last + 1].find(isFree);
}

const shared = (one: Span, other: Span): number =>
  Math.min(rightOf(one), rightOf(other)) - Math.max(one.x, other.x);

function cellOf(texts: readonly Piece[]): FoundCell {
  if (texts.length === 0) return { text: '' };
  const lines = rowsOf(texts).map((row) => joinRun(row));
  return { text: joinTexts(lines, ' ', Infinity), bbox: around(texts) };
}
