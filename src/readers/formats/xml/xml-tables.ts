import { lookUp } from '../../../shared/at.js';
import type { Block } from '../../blocks/block.js';
import { documentTable } from '../tables/document-table.js';
import { spanOf, type SpanningCell } from '../tables/span-cells.js';
import { attribute, type Attributes } from './read-markup.js';

const TABLES = new Set(['table', 'informaltable']);
const ROWS = new Set(['tr', 'row']);
const CELLS = new Set(['td', 'th', 'entry', 'entrytbl', 'cell']);
/** The elements that begin a table of HTML, behind its caption. */
const BEGINNINGS = new Set('colgroup col thead tbody tfoot tr'.split(' '));
/** Most rows that name columns. */
const MAX_HEADER_ROWS = 4;

interface OpenTable {
  /** The number of open elements around the one whose end is the end of the table. */
  readonly depth: number;
  readonly rows: SpanningCell[][];
  /** The columns of CALS, by their names. */
  readonly columns: Map<string, number>;
  /** The number of columns that the spans of CALS reach over, by their names. */
  readonly spans: Map<string, number>;
  headerRows: number;
  isHead: boolean;
  row: SpanningCell[];
  /** True while the open row has only named columns. */
  isHeaderRow: boolean;
  cell: { readonly depth: number; readonly attributes: Attributes } | undefined;
}

interface Opened {
  readonly name: string;
  readonly attributes: Attributes;
  readonly isProse: boolean;
  /** The number of open elements around it. */
  readonly depth: number;
  /** The name of the innermost of these. */
  readonly holder: string;
}

/** Collects tables in the names of HTML, CALS (DocBook, JATS) and, in prose, TEI. The content of a cell is its text. */
export interface XmlTables {
  /** Tells whether an element is the beginning of a table. */
  begins(element: Opened): boolean;
  isOpen(): boolean;
  isInCell(): boolean;
  open(element: Opened): void;
  /** Takes the end of an element. Returns the blocks of a table that ends with it. @param text the text of the element */
  close(depth: number, name: string, text: () => string): Iterable<Block> | undefined;
}

export function createXmlTables(): XmlTables {
  let table: OpenTable | undefined;
  return {
    begins: (element) => table === undefined && isBeginning(element),
    isOpen: () => table !== undefined,
    isInCell: () => table?.cell !== undefined,
    open: (element) => {
      if (!table && isBeginning(element))
        table = openTable(element.name === 'tgroup' ? element.depth : element.depth - 1);
      if (table && !table.cell) openInTable(table, element);
    },
    close: (depth, name, text) => {
      if (!table) return undefined;
      if (table.cell?.depth === depth) closeCell(table, text());
      if (table.cell) return undefined;
      if (ROWS.has(name)) closeRow(table);
      else if (name === 'thead') table.isHead = false;
      if (table.depth !== depth) return undefined;
      const blocks = documentTable(table);
      table = undefined;
      return blocks;
    },
  };
}

/** Records may be called tables and rows, too. */
const isBeginning = ({ name, holder, isProse }: Opened): boolean =>
  name === 'tgroup' || (TABLES.has(holder) && (BEGINNINGS.has(name) || (name === 'row' && isProse)));

const openTable = (depth: number): OpenTable => ({
  depth,
  rows: [],
  columns: new Map(),
  spans: new Map(),
  headerRows: 0,
  isHead: false,
  row: [],
  isHeaderRow: false,
  cell: undefined,
});

function openInTable(table: OpenTable, { name, attributes, depth }: Opened): void {
  if (name === 'thead') table.isHead = true;
  else if (name === 'colspec') addColumn(table, attributes);
  else if (name === 'spanspec') table.spans.set(attribute(attributes, 'spanname'), reach(table, attributes));
  else if (ROWS.has(name)) {
    table.row = [];
    table.isHeaderRow = name === 'tr' || attributes['role'] === 'label';
  } else if (CELLS.has(name)) {
    if (name === 'td') table.isHeaderRow = false;
    table.cell = { depth, attributes };
  }
}

/** Heads of CALS may repeat the names of the columns. */
function addColumn({ columns }: OpenTable, { colname = `#${String(columns.size)}` }: Attributes): void {
  if (!columns.has(colname)) columns.set(colname, columns.size);
}

function closeCell(table: OpenTable, text: string): void {
  const { attributes = {} } = table.cell ?? {};
  table.cell = undefined;
  const { colspan, cols, rowspan, rows, morerows, spanname } = attributes;
  table.row.push({
    text,
    columns: Math.max(spanOf(colspan ?? cols), lookUp(table.spans, spanname) ?? reach(table, attributes)),
    rows: morerows === undefined ? spanOf(rowspan ?? rows) : spanOf(String(Number(morerows) + 1)),
  });
}

/** Returns the number of columns of CALS that a cell reaches over. */
function reach({ columns }: OpenTable, { namest, nameend }: Attributes): number {
  const [first, last] = [lookUp(columns, namest), lookUp(columns, nameend)];
  return first === undefined || last === undefined ? 1 : Math.max(1, last - first + 1);
}

function closeRow(table: OpenTable): void {
  if (table.row.length === 0) return;
  const isNext = table.headerRows === table.rows.length && table.headerRows < MAX_HEADER_ROWS;
  if (isNext && (table.isHead || table.isHeaderRow)) table.headerRows += 1;
  table.rows.push(table.row);
  table.row = [];
}
