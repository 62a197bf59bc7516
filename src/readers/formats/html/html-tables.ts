import type { Block } from '../../blocks/block.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import type { Shift } from '../baseline/shift.js';
import { tableBlocks } from '../tables/table-blocks.js';
import { looksLikeHeader } from '../tables/header-rows.js';
import { spanCells, spanOf, type SpanningCell } from '../tables/span-cells.js';
import type { Attributes } from '../xml/read-markup.js';
import { oneLine } from '../../blocks/one-line.js';

/** A cell with more paragraphs or characters than these holds a part of a page, not a value. */
const MAX_PARAGRAPHS = 3;
const MAX_CHARACTERS = 1_500;
/** Most rows that name columns. */
const MAX_HEADER_ROWS = 4;

interface OpenCell {
  readonly pieces: Piece[];
  readonly attributes: Attributes;
  readonly isHeader: boolean;
  characters: number;
  paragraphs: number;
}

interface OpenTable {
  /** The table as text that flows, which it is where it only arranges a page. */
  readonly blocks: Block[];
  readonly rows: SpanningCell[][];
  readonly caption: Piece[];
  headerRows: number;
  isHead: boolean;
  hasHeaderCells: boolean;
  /** True while the open row has only named columns. */
  isHeaderRow: boolean;
  isLayout: boolean;
  row: SpanningCell[];
  cell: OpenCell | undefined;
}

/**
 * Tells tables of data from tables that arrange a page: these hold other tables, headings or long texts, or have one
 * column. The blocks of a table are held back until that is known.
 */
export interface HtmlTables {
  /** Takes a block of the flow. */
  emit(block: Block): void;
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Notes text of the flow, and a border between two paragraphs. */
  append(text: string, shifts?: readonly Shift[]): void;
  separate(isParagraph: boolean): void;
  /** Notes that a heading begins. */
  addHeading(): void;
}

/** @param sink takes the blocks in the order of reading */
export function createHtmlTables(sink: (block: Block) => void): HtmlTables {
  /** The innermost open table, while it may be one of data. */
  let table: OpenTable | undefined;
  const release = (): void => {
    for (const block of table?.blocks ?? []) sink(block);
    table = undefined;
  };
  return {
    emit: (block) => {
      if (table) table.blocks.push(block);
      else sink(block);
    },
    open: (name, attributes) => {
      if (name === 'table') {
        release();
        table = openTable(attributes);
      } else if (table) openInTable(table, name, attributes);
    },
    close: (name) => {
      if (table) closeInTable(table, name);
      if (!table || name !== 'table') return;
      for (const block of isData(table) ? dataBlocks(table) : table.blocks) sink(block);
      table = undefined;
    },
    append: (text, shifts = []) => {
      if (!table) return;
      (table.cell?.pieces ?? table.caption).push({ text, shifts });
      if (table.cell) table.cell.characters += text.length;
    },
    separate: (isParagraph) => {
      if (table?.cell) separateInCell(table.cell, isParagraph);
    },
    addHeading: () => {
      if (table?.cell?.isHeader === false) table.isLayout = true;
    },
  };
}

function separateInCell(cell: OpenCell, isParagraph: boolean): void {
  if (cell.pieces.at(-1)?.text === '\n') return;
  cell.pieces.push({ text: '\n', shifts: [] });
  if (isParagraph) cell.paragraphs += 1;
}

const openTable = ({ role }: Attributes): OpenTable => ({
  blocks: [],
  rows: [],
  caption: [],
  headerRows: 0,
  isHead: false,
  hasHeaderCells: false,
  isHeaderRow: true,
  isLayout: role === 'presentation' || role === 'none',
  row: [],
  cell: undefined,
});

function openInTable(table: OpenTable, name: string, attributes: Attributes): void {
  if (name === 'thead') table.isHead = true;
  else if (name === 'tr') {
    closeRow(table);
    table.isHeaderRow = true;
  } else if (name === 'td' || name === 'th') {
    closeCell(table);
    const isHeader = name === 'th';
    if (isHeader) table.hasHeaderCells = true;
    else table.isHeaderRow = false;
    table.cell = { pieces: [], attributes, isHeader, characters: 0, paragraphs: 0 };
  }
}

function closeInTable(table: OpenTable, name: string): void {
  if (name === 'td' || name === 'th') closeCell(table);
  else if (name === 'tr' || name === 'table') closeRow(table);
  else if (name === 'thead') table.isHead = false;
}

function closeCell(table: OpenTable): void {
  const { cell } = table;
  if (!cell) return;
  table.cell = undefined;
  const text = writePieces(cell.pieces).trim();
  if (!cell.isHeader && (cell.paragraphs > 2 * MAX_PARAGRAPHS || cell.characters > MAX_CHARACTERS))
    table.isLayout = true;
  const { colspan, rowspan } = cell.attributes;
  table.row.push({ text, columns: spanOf(colspan), rows: spanOf(rowspan) });
}

function closeRow(table: OpenTable): void {
  closeCell(table);
  if (table.row.length === 0) return;
  const isNext = table.headerRows === table.rows.length && table.headerRows < MAX_HEADER_ROWS;
  if (isNext && (table.isHead || table.isHeaderRow)) table.headerRows += 1;
  table.rows.push(table.row);
  table.row = [];
}

/** A table of several rows and columns. */
function isData({ isLayout, rows, hasHeaderCells }: OpenTable): boolean {
  if (isLayout || (rows.length < 2 && !hasHeaderCells)) return false;
  return rows.some((row) => row.filter(({ text }) => text !== '').length > 1);
}

function* dataBlocks({ rows, headerRows, caption, hasHeaderCells }: OpenTable): Iterable<Block> {
  const title = oneLine(writePieces(caption));
  if (title !== '') yield { text: `${title}\n\n` };
  const [first = []] = spanCells(rows.slice(0, 1), 0);
  const named = headerRows > 0 || hasHeaderCells || !looksLikeHeader(first) ? headerRows : 1;
  const laidOut = spanCells(rows, named);
  yield* tableBlocks(
    laidOut.map((cells) => ({ cells })),
    { headerRows: named },
  );
}
