import type { Rectangle } from '../../../../../shared/extraction/location.js';
import { looksLikeHeader } from '../../tables/header-rows.js';
import { rowsOf } from './lines.js';
import type { FoundCell } from './lost-texts.js';
import { around, holds, rightOf, type Piece } from './piece.js';

/** A cell with lines around it, be it empty. */
interface RuledCell extends FoundCell {
  readonly bbox: Rectangle;
}

type Row = readonly RuledCell[];

/** A text that reaches so many points into the next column is in both. */
const LEAST_SHARED = 2;
/** Tables with more comparisons of rows with texts are left as they are. */
const MOST_COMPARISONS = 5_000_000;

/** Tells whether lines bound all cells of a table: only then the empty ones have a place. */
export const isRuled = (rows: readonly (readonly FoundCell[])[]): rows is readonly Row[] =>
  rows.every((row) => row.every(({ bbox }) => bbox !== undefined));

export const partBox = (rows: readonly Row[]): Rectangle => around(rows.map(rowBox));
const rowBox = (row: Row): Rectangle => around(row.map(({ bbox }) => bbox));

/**
 * Parts what PDFium's reader takes for one table where text stands between tables of the same width, which it cuts into their cells,
 * and puts the rows back that it leaves out of a table which goes on over pages, since they are alike on each.
 * @param pieces the texts within the table
 */
export function ruledParts(
  rows: readonly Row[],
  box: Rectangle,
  pieces: readonly Piece[],
): readonly (readonly Row[])[] {
  if (rows.length * pieces.length > MOST_COMPARISONS) return [rows];
  const textsOf = (row: Row) => {
    const { y, height } = rowBox(row);
    return pieces.filter((piece) => holds({ ...box, y, height }, piece));
  };
  const parts: Row[][] = [[]];
  let text: Row | undefined;
  for (const row of withRepeated(rows, box.y, textsOf)) {
    const own = textsOf(row);
    if (isText(own, row)) {
      if (text) parts.push([]);
      text = inOneCell(row, own);
      continue;
    }
    // A line across a table stays in it, unless other columns are named below.
    if (text && (parts.at(-1)?.length === 0 || looksLikeHeader(textsIn(row)))) parts.push([row]);
    else parts.at(-1)?.push(...(text ? [text, row] : [row]));
    text = undefined;
  }
  return parts.length === 1 ? parts : parts.map((part) => inOwnColumns(part, part.map(textsOf)));
}

const textsIn = (row: Row): string[] => row.map(({ text }) => text).filter((text) => text !== '');

/** Tells whether what stands at the height of a row is lines of text alone, of which one was cut into cells or runs across columns. */
function isText(own: readonly Piece[], row: Row): boolean {
  const isCut = own.length === 1 && textsIn(row).length > 1;
  const isLine = isCut || own.some((piece) => row.filter(({ bbox }) => isShared(bbox, piece)).length > 1);
  return isLine && rowsOf(own).every((line) => line.length === 1);
}

const isShared = (box: Rectangle, piece: Rectangle): boolean =>
  Math.min(rightOf(box), rightOf(piece)) - Math.max(box.x, piece.x) > LEAST_SHARED;

const inOneCell = (row: Row, own: readonly Piece[]): Row =>
  row.map((cell, at) => ({ ...cell, text: at === 0 ? inOrder(own) : '' }));

function inOrder(pieces: readonly Piece[]): string {
  const lines = rowsOf(pieces).flat();
  return lines.map(({ text }) => text).join(' ');
}

/** Rows at the top and bottom that pages repeat, such as the names of columns, are empty or missing. */
function withRepeated(
  rows: readonly Row[],
  top: number,
  textsOf: (row: Row) => readonly Piece[],
): readonly Row[] {
  const [first] = rows;
  if (!first) return rows;
  const height = rowBox(first).y - top;
  const above = first.map(({ bbox }) => ({ text: '', bbox: { ...bbox, y: top, height } }));
  const all = height > 0 && textsOf(above).length > 0 ? [above, ...rows] : rows;
  return all.map((row) => (textsIn(row).length > 0 ? row : filled(row, textsOf(row))));
}

/** The row with each text in the column in which its middle is. */
const filled = (row: Row, texts: readonly Piece[]): Row =>
  row.map(({ bbox }) => {
    const { x, width } = bbox;
    return { bbox, text: inOrder(texts.filter((piece) => holds({ ...piece, x, width }, piece))) };
  });

/** Joins columns that only another table has: a text runs across both, and in no row each has its own. Empty ones are left out. */
function inOwnColumns(rows: readonly Row[], texts: readonly (readonly Piece[])[]): Row[] {
  const boxes = rows[0]?.map(({ bbox }) => bbox) ?? [];
  const columnsOf = (piece: Piece) => boxes.flatMap((box, at) => (isShared(box, piece) ? [at] : []));
  const groups = joinedColumns(
    boxes.length,
    texts.map((row) => row.map(columnsOf)),
  );
  const joined = rows.map((row) =>
    groups.map((group): RuledCell => {
      const cells = group.flatMap((at) => row[at] ?? []);
      return { text: textsIn(cells).join(' '), bbox: rowBox(cells) };
    }),
  );
  return joined.map((row) => row.filter((_, at) => joined.some((cells) => cells[at]?.text !== '')));
}

/** @param reached the columns into which each text of each row reaches */
function joinedColumns(count: number, reached: readonly (readonly (readonly number[])[])[]): number[][] {
  const groups: number[][] = [];
  for (let column = 0; column < count; column += 1) {
    const group = groups.at(-1) ?? [];
    const isIn = (columns: readonly number[]) => columns.some((at) => group.includes(at));
    const isCrossed = reached.some((row) => row.some((columns) => columns.includes(column) && isIn(columns)));
    const isParted = reached.some(
      (row) =>
        row.some((columns) => columns.includes(column) && !isIn(columns)) &&
        row.some((columns) => !columns.includes(column) && isIn(columns)),
    );
    if (isCrossed && !isParted) group.push(column);
    else groups.push([column]);
  }
  return groups;
}
