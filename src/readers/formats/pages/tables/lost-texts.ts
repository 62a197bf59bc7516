import type { Rectangle } from '../../../blocks/location.js';
import { joinRun, rowsOf } from '../layout/lines.js';
import { around, holds, lettersOf, median, rightOf, MAX_SPACE, type Piece } from '../layout/piece.js';

/** A cell as PDFium's reader found it. */
export interface FoundCell {
  readonly text: string;
  /** Absent where there is no text. */
  readonly bbox?: Rectangle | undefined;
}

/** More pairs of texts and cells are not compared. */
const MAX_COMPARED = 2_000_000;
/** A table that lost a larger share of its letters is none. */
const MAX_LOST = 0.4;
/** A text stands in a column when it reaches at least this many points into it. */
const MIN_SHARED = 1;

type Span = Pick<Rectangle, 'x' | 'width'>;

/** A column, with its place in the rows that were found; undefined for a column that only lost texts stand in. */
interface Column extends Span {
  readonly at: number | undefined;
}

interface Row {
  readonly box: Rectangle;
  readonly cells: readonly FoundCell[];
}

/**
 * Puts texts that PDFium's reader left out of a table, such as the names of its rows, where they stand: into cells, or
 * into columns and rows of their own. @returns undefined when one of them has no such place
 */
export function putBackLost(
  found: readonly (readonly FoundCell[])[],
  pieces: readonly Piece[],
): readonly (readonly FoundCell[])[] | undefined {
  const cells = found.flat();
  if (pieces.length * cells.length > MAX_COMPARED) return undefined;
  const lost = pieces.filter((piece) => isLost(piece, cells));
  const [all = 0, left = 0] = [pieces, lost].map((some) => lettersOf(some.map(({ text }) => text)).length);
  if (left === 0 || left > all * MAX_LOST) return undefined;
  const columns = withFurther(columnsOf(found), lost);
  const rows = rowsWith(found, lost, columns);
  if (!lost.every((piece) => columnsUnder(piece, columns).length === 1)) return undefined;
  return rows.map(({ box, cells: row }) => {
    const beside = lost.filter((piece) => isBeside(box, piece));
    return row.map((cell, index) => {
      const added = beside.filter((piece) => columnsUnder(piece, columns)[0] === columns[index]);
      return added.length > 0 ? withTexts(cell, added, pieces) : cell;
    });
  });
}

/** Tells whether no cell near a text holds it. */
function isLost(piece: Piece, cells: readonly FoundCell[]): boolean {
  const letters = lettersOf([piece.text]);
  if (letters === '') return false;
  return !cells.some(({ text, bbox }) => bbox && isNear(bbox, piece) && lettersOf([text]).includes(letters));
}

/** A cell of several lines may say where its first one stands. */
function isNear({ x, y, width, height }: Rectangle, piece: Piece): boolean {
  const [across, along] = [piece.size, 3 * piece.size];
  return holds({ x: x - across, y: y - along, width: width + 2 * across, height: height + 2 * along }, piece);
}

/** Returns the places of the columns, by most of their cells below the first row, whose cells may reach over several. */
function columnsOf(found: readonly (readonly FoundCell[])[]): Column[] {
  const count = Math.max(0, ...found.map((row) => row.length));
  return Array.from({ length: count }, (_, at) => {
    const boxes = found.flatMap((row) => row[at]?.bbox ?? []);
    const below = boxes.length > 1 ? boxes.slice(1) : boxes;
    const x = median(below.map((box) => box.x));
    return { at, x, width: median(below.map(rightOf)) - x };
  }).filter(({ width }) => width > 0);
}

/** Returns the columns from left to right, including columns in which nothing but lost texts stands. */
function withFurther(columns: readonly Column[], lost: readonly Piece[]): Column[] {
  const further: Column[] = [];
  for (const piece of lost.toSorted((a, b) => a.x - b.x)) {
    if (columnsUnder(piece, columns).length > 0) continue;
    const { x, width } = piece;
    const last = further.at(-1);
    if (last && x < rightOf(last))
      further[further.length - 1] = { ...last, width: Math.max(rightOf(last), x + width) - last.x };
    else further.push({ at: undefined, x, width });
  }
  return [...columns, ...further].toSorted((a, b) => a.x - b.x);
}

/**
 * Returns the columns into which a text reaches, or else the columns beside which it stands as a word of the same cell
 * would.
 */
function columnsUnder(piece: Piece, columns: readonly Column[]): Column[] {
  const under = reached(piece, columns, MIN_SHARED);
  return under.length > 0 ? under : reached(piece, columns, -MAX_SPACE * piece.size);
}

const reached = (piece: Piece, columns: readonly Column[], least: number): Column[] =>
  columns.filter((column) => Math.min(rightOf(piece), rightOf(column)) - Math.max(piece.x, column.x) > least);

/** Returns the rows from top to bottom, including rows in which nothing but lost texts stands. */
function rowsWith(
  found: readonly (readonly FoundCell[])[],
  lost: readonly Piece[],
  columns: readonly Column[],
): Row[] {
  const rows = found.flatMap((row): Row[] => {
    const boxes = row.flatMap(({ bbox }) => bbox ?? []);
    if (boxes.length === 0) return [];
    return [{ box: around(boxes), cells: columns.map(({ at = -1 }) => row[at] ?? { text: '' }) }];
  });
  const alone = lost.filter((piece) => !rows.some(({ box }) => isBeside(box, piece)));
  const further = rowsOf(alone).map((row): Row => ({
    box: around(row),
    cells: columns.map(() => ({ text: '' })),
  }));
  return [...rows, ...further].toSorted((a, b) => a.box.y - b.box.y);
}

/** Tells whether a text stands at the height of a row. */
const isBeside = ({ y, height }: Rectangle, piece: Piece): boolean =>
  holds({ x: piece.x, width: piece.width, y, height }, piece);

/** The cell with further texts, among its own where these can be told. */
function withTexts({ text, bbox }: FoundCell, added: readonly Piece[], pieces: readonly Piece[]): FoundCell {
  const own = pieces.filter((piece) => bbox && holds(bbox, piece) && !added.includes(piece));
  const isOwn = lettersOf([text]).length === lettersOf(own.map((piece) => piece.text)).length;
  const lines = rowsOf(isOwn ? [...own, ...added] : added).map((row) => joinRun(row).text);
  const all = isOwn || text === '' ? lines : [text, ...lines];
  return { text: all.join(' '), bbox: around([...(bbox ? [bbox] : []), ...added]) };
}
