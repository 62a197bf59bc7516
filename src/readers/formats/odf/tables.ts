import type { Block, Place } from '../../blocks/block.js';
import { documentTable } from '../tables/document-table.js';
import { spanOf, type SpanningCell } from '../tables/span-cells.js';
import type { Attributes } from '../xml/read-markup.js';
import { repetitionsOf, type RepeatBudget } from './repeat-budget.js';

/** More empty cells than this side by side are written as this many. */
const MAX_EMPTY_CELLS = 256;

interface OpenTable {
  readonly rows: SpanningCell[][];
  headerRows: number;
  isInHeader: boolean;
  repeatsRow: number;
  row: SpanningCell[];
  cell: { readonly parts: string[]; readonly attributes: Attributes } | undefined;
}

/** Collects the tables of a text or a presentation. A table inside a cell becomes text of the cell. */
export interface TableCollector {
  open(name: string, attributes: Attributes): void;
  /** Returns the blocks of a table when an outermost one ends. */
  close(name: string, place: Place | undefined): Iterable<Block> | undefined;
  /** Adds text to the open cell. False when none is open. */
  add(text: string): boolean;
}

export function createTables(budget: RepeatBudget): TableCollector {
  const tables: OpenTable[] = [];
  const add = (text: string): boolean => {
    const cell = tables.at(-1)?.cell;
    cell?.parts.push(text);
    return cell !== undefined;
  };
  return {
    open: (name, attributes) => {
      const table = tables.at(-1);
      if (name === 'table:table') tables.push(emptyTable());
      else if (name === 'table:table-header-rows' && table) table.isInHeader = true;
      else if (name === 'table:table-row' && table) {
        table.row = [];
        table.repeatsRow = repetitionsOf(attributes['table:number-rows-repeated']);
      } else if (name === 'table:table-cell' && table) table.cell = { parts: [], attributes };
    },
    close: (name, place) => {
      const table = tables.at(-1);
      if (!table) return undefined;
      if (name === 'table:table-header-rows') table.isInHeader = false;
      else if (name === 'table:table-cell') closeCell(table, budget);
      else if (name === 'table:table-row') closeRow(table, budget);
      if (name !== 'table:table') return undefined;
      tables.pop();
      if (tables.length === 0) return documentTable({ ...table, place });
      for (const row of table.rows) add(row.map(({ text }) => text).join(' '));
      return undefined;
    },
    add,
  };
}

const emptyTable = (): OpenTable => ({
  rows: [],
  headerRows: 0,
  isInHeader: false,
  repeatsRow: 1,
  row: [],
  cell: undefined,
});

function closeCell(table: OpenTable, budget: RepeatBudget): void {
  if (!table.cell) return;
  const { parts, attributes } = table.cell;
  const text = parts.join('\n');
  const cell = {
    text,
    columns: spanOf(attributes['table:number-columns-spanned']),
    rows: spanOf(attributes['table:number-rows-spanned']),
  };
  const repeated = repetitionsOf(attributes['table:number-columns-repeated']);
  const times = text === '' ? Math.min(repeated, MAX_EMPTY_CELLS) : budget.take(repeated, text.length);
  for (let count = 0; count < times; count += 1) table.row.push(cell);
  table.cell = undefined;
}

function closeRow(table: OpenTable, budget: RepeatBudget): void {
  const length = table.row.reduce((sum, { text }) => sum + text.length, 0);
  const times = length === 0 ? 1 : budget.take(table.repeatsRow, length + table.row.length);
  for (let count = 0; count < times; count += 1) table.rows.push(table.row);
  if (table.isInHeader) table.headerRows += 1;
  table.row = [];
}
