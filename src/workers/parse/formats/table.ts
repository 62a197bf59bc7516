import type { Block, Place } from '../extraction/block.js';

/** A header that is longer is not repeated. */
const MOST_HEADER_CHARACTERS = 2_000;

interface Row {
  readonly cells: readonly string[];
  readonly place?: Place | undefined;
}

interface TableOptions {
  /** How many of the first rows name the columns; 1 by default. */
  readonly headerRows?: number | undefined;
}

/**
 * Writes the rows of a table as Markdown, a block for each. Rows that name the columns are repeated in each chunk that
 * holds later ones. Rows without any text are left out. The table ends with an empty line.
 */
export function* tableBlocks(rows: Iterable<Row>, { headerRows = 1 }: TableOptions = {}): Iterable<Block> {
  let header = '';
  let count = 0;
  let width = 0;
  let last: Block | undefined;
  for (const { cells, place } of rows) {
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (last) yield last;
    const line = rowLine(cells, width);
    if (count === 0) width = cells.length;
    const isHeader = count < headerRows;
    const rule = count === headerRows - 1 ? ruleLine(width) : '';
    if (isHeader) header += line + rule;
    const repeated = isHeader || header.length > MOST_HEADER_CHARACTERS ? '' : header;
    last = { text: line + rule, row: { header: repeated }, place };
    count += 1;
  }
  if (last) yield { ...last, text: `${last.text}\n` };
}

function rowLine(cells: readonly string[], width: number): string {
  const written = Array.from({ length: Math.max(cells.length, width) }, (_, i) => cellText(cells[i] ?? ''));
  return `| ${written.join(' | ')} |\n`;
}

const ruleLine = (width: number): string => `|${' --- |'.repeat(width)}\n`;

/** A cell holds one line, and a bar in it would end it. */
const cellText = (cell: string): string => cell.replace(/\s+/g, ' ').trim().replace(/\|/g, '\\|');
