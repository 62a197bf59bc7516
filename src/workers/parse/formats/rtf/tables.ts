import type { SpanningCell } from '../tables/span-cells.js';
import type { DocumentTable } from '../tables/document-table.js';

/** Collects rows of a table. RTF has no tables, only rows that follow each other. */
export interface RtfTable {
  /** Heeds what a control word says of the row and its cells. */
  control(word: string): void;
  endCell(text: string): void;
  endRow(): void;
  /** The rows until now, which begins a new table; undefined for none. */
  take(): DocumentTable | undefined;
}

interface CellDefinition {
  isMergedUp: boolean;
}

/** A row has no more cells than this. */
const MOST_CELLS = 1_000;

export function createTable(): RtfTable {
  let rows: SpanningCell[][] = [];
  let headerRows = 0;
  let row: SpanningCell[] = [];
  let definitions: CellDefinition[] = [];
  let isMergedUp = false;
  let isHeader = false;
  const endRow = (): void => {
    if (row.length === 0) return;
    if (isHeader && headerRows === rows.length) headerRows += 1;
    rows.push(mergeUp(row, rows.at(-1) ?? [], definitions));
    row = [];
  };
  return {
    control: (word) => {
      if (word === 'trowd') {
        definitions = [];
        isHeader = false;
      } else if (word === 'cellx' && definitions.length < MOST_CELLS) definitions.push({ isMergedUp });
      isHeader ||= word === 'trhdr';
      if (word === 'clvmrg') isMergedUp = true;
      else if (word === 'cellx' || word === 'trowd') isMergedUp = false;
    },
    endCell: (text) => {
      if (row.length < MOST_CELLS) row.push({ text: text.trim(), columns: 1, rows: 1 });
    },
    endRow,
    take: () => {
      endRow();
      if (rows.length === 0) return undefined;
      const table = { rows, headerRows };
      rows = [];
      headerRows = 0;
      return table;
    },
  };
}

/** Repeats the cells that reach down from the row above. */
function mergeUp(
  row: readonly SpanningCell[],
  above: readonly SpanningCell[],
  definitions: readonly CellDefinition[],
): SpanningCell[] {
  return row.map((cell, index) =>
    definitions[index]?.isMergedUp === true && cell.text === '' ? (above[index] ?? cell) : cell,
  );
}
