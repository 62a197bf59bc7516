import type { LayoutBlock, LayoutCell } from '@llamaindex/liteparse';
import { inReadingOrder } from './reading-order.js';
import { around, holds, type Piece, type TableRow } from './piece.js';

/** Cells with more characters on average are columns of text that were taken for a table. */
const LONGEST_MEAN_CELL = 80;

/** Puts each table that PDFium's reader has found in the place of its texts, unless it lost some of them. */
export function placeTables(pieces: readonly Piece[], blocks: readonly LayoutBlock[]): readonly Piece[] {
  let left = pieces;
  for (const block of blocks) {
    const table = block.kind === 'table' ? toTable(block, left) : undefined;
    if (!table) continue;
    const rest = left.filter((piece) => piece.table !== undefined || !holds(table, piece));
    left = [...rest, table];
  }
  return left;
}

function toTable({ header = [], rows = [], bbox }: LayoutBlock, pieces: readonly Piece[]): Piece | undefined {
  const table = [header, ...rows].filter((cells) => cells.length > 0).map(toRow);
  const columns = Math.max(0, ...table.slice(0, 1_000).map(({ cells }) => cells.length));
  if (!bbox || table.length < 2 || columns < 2) return undefined;
  const within = pieces.filter((piece) => !piece.table && holds(bbox, piece));
  const [inside, cells] = [
    lettersOf(within.map(({ text }) => text)),
    lettersOf(table.flatMap((row) => row.cells)),
  ];
  const filled = table.flatMap((row) => row.cells).filter((cell) => cell !== '').length;
  if (inside.length === 0 || !isSame(inside, cells) || cells.length / filled > LONGEST_MEAN_CELL)
    return undefined;
  const size = within.reduce((sum, piece) => sum + piece.size, 0) / within.length;
  return { ...bbox, text: '', size, isBold: false, table };
}

function toRow(cells: readonly LayoutCell[]): TableRow {
  const boxes = cells.flatMap(({ bbox }) => (bbox ? [bbox] : []));
  return {
    cells: cells.map(({ text }) => inReadingOrder(plainText(text))),
    box: boxes.length > 0 ? around(boxes) : undefined,
  };
}

/** Takes the marks of Markdown away that the reader puts into texts. */
function plainText(text: string): string {
  return text.replace(/<br\s?\/?>/g, ' ').replace(/\\([\\`*_{}[\]()#+\-.!|~<>])/g, '$1');
}

const lettersOf = (texts: readonly string[]): string => texts.join('').replace(/[^\p{L}\p{N}]/gu, '');

/** Tells whether the letters of the cells are those of the page, in whatever order. */
function isSame(inside: string, cells: string): boolean {
  if (inside.length !== cells.length) return false;
  const surplus = new Map<number, number>();
  for (let i = 0; i < inside.length; i += 1) {
    const [more, less] = [inside.charCodeAt(i), cells.charCodeAt(i)];
    if (more === less) continue;
    surplus.set(more, (surplus.get(more) ?? 0) + 1);
    surplus.set(less, (surplus.get(less) ?? 0) - 1);
  }
  return [...surplus.values()].every((count) => count === 0);
}
