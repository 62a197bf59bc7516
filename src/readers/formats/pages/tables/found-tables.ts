import type { LayoutBlock, LayoutCell } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import { namesAbove } from './names-above.js';
import { isNumeric } from './text-rows.js';
import { joinRun, rowsOf } from '../layout/lines.js';
import { putBackLost, type FoundCell } from './lost-texts.js';
import {
  around,
  bottomOf,
  holds,
  lettersOf,
  rightOf,
  standsAlone,
  MAX_SPACE,
  type Piece,
  type TableRow,
} from '../layout/piece.js';
import { inReadingOrder } from '../layout/reading-order.js';
import { joinTexts, WIDE } from '../layout/unspaced-lines.js';
import { addTo } from '../../../../shared/at.js';

/** Cells with more characters on average are columns of text that were taken for a table. */
const MAX_MEAN_CELL = 80;
/** Shorter cells on average are columns of text, too, where the reader has lost some of the texts. */
const MAX_MEAN_WHERE_LOST = 20;
/** The largest share of letters that may stand in a table more than once. */
const MAX_REPEATED = 0.3;

/** The largest share of lines that may go on beside a table. */
const MAX_GOING_ON = 0.5;

const SPACED_WIDE = new RegExp(`${WIDE} ${WIDE}`, 'u');

/** Puts each table that PDFium's reader has found in the place of its texts, unless it lost some of them. */
export function placeFoundTables(pieces: readonly Piece[], blocks: readonly LayoutBlock[]): readonly Piece[] {
  let left = pieces;
  for (const block of blocks) {
    if (block.kind !== 'table') continue;
    const { bbox } = block;
    if (!bbox || left.some((piece) => piece.table && overlaps(piece, bbox)) || isCutOut(bbox, left)) continue;
    for (const table of tablesOf(block, left)) {
      const rest = left.filter((piece) => piece.table !== undefined || !holds(table, piece));
      left = [...rest, table];
    }
  }
  return left;
}

const overlaps = (one: Rectangle, other: Rectangle): boolean =>
  Math.min(rightOf(one), rightOf(other)) - Math.max(one.x, other.x) > 1 &&
  Math.min(bottomOf(one), bottomOf(other)) - Math.max(one.y, other.y) > 1;

/** Tells whether most lines of a table go on beside it as lines of text do, such as the lines of justified columns. */
function isCutOut(box: Rectangle, pieces: readonly Piece[]): boolean {
  const beside = pieces.filter((piece) => !standsAlone(piece) && isAtHeight(box, piece));
  const rows = rowsOf(beside).filter((row) => row.some((piece) => holds(box, piece)));
  const goesOn = rows.filter((row) =>
    row.some((piece, index) => {
      const before = row[index - 1];
      const isAtEdge = before !== undefined && holds(box, piece) !== holds(box, before);
      return isAtEdge && piece.x - rightOf(before) <= MAX_SPACE * Math.max(piece.size, before.size);
    }),
  );
  return goesOn.length > MAX_GOING_ON * rows.length;
}

const isAtHeight = ({ y, height }: Rectangle, piece: Piece): boolean =>
  holds({ x: piece.x, width: piece.width, y, height }, piece);

function tablesOf({ header = [], rows = [], bbox }: LayoutBlock, pieces: readonly Piece[]): Piece[] {
  if (!bbox) return [];
  const texts = pieces.filter((piece) => !piece.table);
  const all = [header, ...rows].filter((cells) => cells.length > 0).map((cells) => cells.map(toCell));
  const found = splitRows(all, bbox, texts);
  const [table] = toTable(found, bbox, texts);
  const names = table && namesAbove(found, bbox, texts);
  if (!table?.table || !names) return table ? [table] : [];
  const row = toRow(names);
  return [{ ...table, ...around([table, row.box ?? table]), table: [row, ...table.table] }];
}

function toTable(
  found: readonly (readonly FoundCell[])[],
  box: Rectangle,
  pieces: readonly Piece[],
): Piece[] {
  const within = pieces.filter((piece) => holds(box, piece));
  const columns = Math.max(0, ...found.slice(0, 1_000).map((cells) => cells.length));
  if (found.length < 2 || columns < 2) return [];
  const table = holdsAll(found, within) ? found : putBackLost(found, within);
  if (!table || (table !== found && !holdsAll(table, within))) return [];
  const filled = table.flat().filter(({ text }) => text !== '');
  const letters = lettersOf(filled.map(({ text }) => text)).length;
  const longest = table === found ? MAX_MEAN_CELL : MAX_MEAN_WHERE_LOST;
  if (letters === 0 || letters / filled.length > longest) return [];
  const size = within.reduce((sum, piece) => sum + piece.size, 0) / within.length;
  return [{ ...box, text: '', size, isBold: false, table: withoutSpaces(table, within).map(toRow) }];
}

const toCell = ({ text, bbox }: LayoutCell): FoundCell => ({ text: inReadingOrder(plainText(text)), bbox });

/** The table without the spaces that the reader puts between the lines of a cell where Chinese or Japanese goes on. */
function withoutSpaces(
  table: readonly (readonly FoundCell[])[],
  within: readonly Piece[],
): readonly (readonly FoundCell[])[] {
  if (!table.some((row) => row.some(({ text }) => SPACED_WIDE.test(text)))) return table;
  const rooms: number[] = [];
  for (const row of table)
    for (const [at, { bbox }] of row.entries()) rooms[at] = Math.max(rooms[at] ?? 0, bbox?.width ?? 0);
  return table.map((row) =>
    row.map((cell, at) => {
      const { text, bbox } = cell;
      if (!bbox || !SPACED_WIDE.test(text)) return cell;
      const lines = rowsOf(within.filter((piece) => holds(bbox, piece))).map((line) => joinRun(line));
      const isOwn = lettersOf(lines.map((line) => line.text)) === lettersOf([text]);
      return isOwn ? { text: joinTexts(lines, ' ', rooms[at] ?? Infinity), bbox } : cell;
    }),
  );
}

function toRow(cells: readonly FoundCell[]): TableRow {
  const boxes = cells.flatMap(({ bbox }) => bbox ?? []);
  return { cells: cells.map(({ text }) => text), box: boxes.length > 0 ? around(boxes) : undefined };
}

/** Takes the marks of Markdown away that the reader puts into texts. */
function plainText(text: string): string {
  return text.replace(/<br\s?\/?>/g, ' ').replace(/\\([\\`*_{}[\]()#+\-.!|~<>])/g, '$1');
}

/**
 * Tells whether the cells hold the letters of the page, in whatever order, and not many others: a name over several
 * columns is repeated in each.
 */
function holdsAll(table: readonly (readonly FoundCell[])[], pieces: readonly Piece[]): boolean {
  const inside = lettersOf(pieces.map(({ text }) => text));
  const cells = lettersOf(table.flat().map(({ text }) => text));
  const surplus = cells.length - inside.length;
  if (surplus < 0 || surplus > inside.length * MAX_REPEATED) return false;
  const counts = new Map<number, number>();
  for (let i = 0; i < cells.length; i += 1) {
    const [more, less] = [cells.charCodeAt(i), inside.charCodeAt(i)];
    if (more === less) continue;
    addTo(counts, more);
    if (i < inside.length) addTo(counts, less, -1);
  }
  return [...counts.values()].every((count) => count >= 0);
}

/** More pairs of texts and cells are not compared. */
const MAX_COMPARED = 2_000_000;
/** The least number of columns of numbers below each other that tell rows. */
const MIN_COLUMNS = 2;

type Cells = readonly FoundCell[];

/** Parts rows that the reader has joined: rows with several lines, each with numbers in the same columns. */
function splitRows(table: readonly Cells[], box: Rectangle, pieces: readonly Piece[]): readonly Cells[] {
  if (pieces.length * table.flat().length > MAX_COMPARED) return table;
  const tops = table.map((row) => Math.min(...row.flatMap(({ bbox }) => bbox?.y ?? [])));
  return table.flatMap((row, index): readonly Cells[] => {
    // The box of a cell with several lines is the box of its first one.
    const [top = 0, end = bottomOf(box)] = [tops[index], tops[index + 1]];
    const within = pieces.filter(({ y, height }) => y + height / 2 > top && y + height / 2 < end);
    return linesOf(row, within) ?? [row];
  });
}

/** The lines of a row as rows of their own; none where they are not rows, or are not the texts of its cells. */
function linesOf(row: Cells, pieces: readonly Piece[]): Cells[] | undefined {
  const lines = rowsOf(pieces);
  if (lines.length < 2) return undefined;
  const texts = row.map((): Piece[] => []);
  for (const piece of lines.flat()) texts[columnOf(piece, row)]?.push(piece);
  const isOwn = row.every(({ text }, at) => lettersOf([text]) === lettersOf(textsOf(texts[at] ?? [])));
  const numbers = texts.filter(
    (own) =>
      own.length === lines.length &&
      own.every(({ text }) => isNumeric(text)) &&
      lines.every((line) => line.some((piece) => own.includes(piece))),
  );
  if (!isOwn || numbers.length < MIN_COLUMNS) return undefined;
  return lines.map((line) => texts.map((own) => cellOf(line.filter((piece) => own.includes(piece)))));
}

const textsOf = (pieces: readonly Piece[]): string[] => pieces.map(({ text }) => text);

/** The nearest of the cells that have a text. */
function columnOf({ text, x, width }: Piece, row: Cells): number {
  const far = ({ text: all, bbox }: FoundCell): number =>
    bbox && all.includes(text) ? Math.abs(bbox.x + bbox.width / 2 - x - width / 2) : Infinity;
  const distances = row.map(far);
  const least = Math.min(...distances);
  return least === Infinity ? -1 : distances.indexOf(least);
}

function cellOf(texts: readonly Piece[]): FoundCell {
  return texts.length === 0 ? { text: '' } : { text: joinRun(texts).text, bbox: around(texts) };
}
