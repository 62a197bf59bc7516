import type { LayoutBlock, LayoutCell } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../../../shared/extraction/location.js';
import { inReadingOrder } from './reading-order.js';
import { putBackLost, type FoundCell } from './lost-texts.js';
import { around, bottomOf, holds, lettersOf, rightOf, type Piece, type TableRow } from './piece.js';

/** Cells with more characters on average are columns of text that were taken for a table. */
const LONGEST_MEAN_CELL = 80;
/** So are shorter ones on average, where the reader has lost some of the texts. */
const LONGEST_MEAN_WHERE_LOST = 20;
/** The largest share of letters that may stand in a table more than once. */
const MOST_REPEATED = 0.3;

/** Puts each table that PDFium's reader has found in the place of its texts, unless it lost some of them. */
export function placeTables(pieces: readonly Piece[], blocks: readonly LayoutBlock[]): readonly Piece[] {
  let left = pieces;
  for (const block of blocks) {
    if (block.kind !== 'table') continue;
    const { bbox } = block;
    if (bbox && left.some((piece) => piece.table && overlaps(piece, bbox))) continue;
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

function tablesOf({ header = [], rows = [], bbox }: LayoutBlock, pieces: readonly Piece[]): Piece[] {
  if (!bbox) return [];
  const within = pieces.filter((piece) => !piece.table && holds(bbox, piece));
  const found = [header, ...rows].filter((cells) => cells.length > 0).map((cells) => cells.map(toCell));
  return toTable(found, bbox, within);
}

function toTable(
  found: readonly (readonly FoundCell[])[],
  box: Rectangle,
  within: readonly Piece[],
): Piece[] {
  const columns = Math.max(0, ...found.slice(0, 1_000).map((cells) => cells.length));
  if (found.length < 2 || columns < 2) return [];
  const table = holdsAll(found, within) ? found : putBackLost(found, within);
  if (!table || (table !== found && !holdsAll(table, within))) return [];
  const filled = table.flat().filter(({ text }) => text !== '');
  const letters = lettersOf(filled.map(({ text }) => text)).length;
  const longest = table === found ? LONGEST_MEAN_CELL : LONGEST_MEAN_WHERE_LOST;
  if (letters === 0 || letters / filled.length > longest) return [];
  const size = within.reduce((sum, piece) => sum + piece.size, 0) / within.length;
  return [{ ...box, text: '', size, isBold: false, table: table.map(toRow) }];
}

const toCell = ({ text, bbox }: LayoutCell): FoundCell => ({ text: inReadingOrder(plainText(text)), bbox });

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
  if (surplus < 0 || surplus > inside.length * MOST_REPEATED) return false;
  const counts = new Map<number, number>();
  for (let i = 0; i < cells.length; i += 1) {
    const [more, less] = [cells.charCodeAt(i), inside.charCodeAt(i)];
    if (more === less) continue;
    counts.set(more, (counts.get(more) ?? 0) + 1);
    if (i < inside.length) counts.set(less, (counts.get(less) ?? 0) - 1);
  }
  return [...counts.values()].every((count) => count >= 0);
}
