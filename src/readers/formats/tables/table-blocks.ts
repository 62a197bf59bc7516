import type { Block, Place } from '../../blocks/block.js';
import { oneLine } from '../../blocks/one-line.js';

interface Row {
  readonly cells: readonly string[];
  readonly place?: Place | undefined;
}

interface TableOptions {
  /** The number of first rows that name the columns; 1 by default. */
  readonly headerRows?: number | undefined;
}

/**
 * Writes the rows of a table as Markdown, a block for each. Rows that name the columns are repeated in each chunk that
 * holds later ones. Rows without any text are left out. The table ends with an empty line.
 */
export function* tableBlocks(rows: Iterable<Row>, options: TableOptions = {}): Iterable<Block> {
  const table = createTableWriter(options);
  for (const row of rows) yield* table.add(row);
  yield* table.end();
}

/** Takes rows one by one, and returns the blocks that are complete. */
export interface TableWriter {
  add(row: Row): readonly Block[];
  end(): readonly Block[];
}

/** As `tableBlocks`, for rows that are not at hand as a list. */
export function createTableWriter({ headerRows = 1 }: TableOptions = {}): TableWriter {
  let header = '';
  let count = 0;
  let width = 0;
  let last: Block | undefined;
  return {
    add: ({ cells, place }) => {
      if (cells.every((cell) => cell.trim() === '')) return [];
      const complete = last ? [last] : [];
      const line = rowLine(cells, width);
      if (count === 0) width = cells.length;
      const isHeader = count < headerRows;
      const rule = count === headerRows - 1 ? ruleLine(width) : '';
      if (isHeader) header += line + rule;
      last = { text: line + rule, row: { header: isHeader ? '' : header }, place };
      count += 1;
      return complete;
    },
    end: () => (last ? [{ ...last, text: `${last.text}\n` }] : []),
  };
}

/** Short rows are filled up to the width, but not much shorter ones: a wide header would multiply a small file. */
function rowLine(cells: readonly string[], width: number): string {
  const length = cells.length * 2 < width ? cells.length : Math.max(cells.length, width);
  const written = Array.from({ length }, (_, index) => cellText(cells[index] ?? ''));
  return `| ${written.join(' | ')} |\n`;
}

const ruleLine = (width: number): string => `|${' --- |'.repeat(width)}\n`;

/** A cell holds one line, and a bar in it would end it. */
const cellText = (cell: string): string => oneLine(cell).replace(/\|/g, '\\|');
