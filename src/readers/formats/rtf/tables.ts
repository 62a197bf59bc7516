import type { SpanningCell } from '../tables/span-cells.js';
import type { DocumentTable } from '../tables/document-table.js';

/** Collects rows of a table. RTF has no tables, only rows that follow each other. */
export interface RtfTable {
  /** Heeds a control word about the row and its cells. */
  control(word: string, parameter: number | undefined): void;
  endCell(text: string): void;
  endRow(): void;
  /** The rows until now, which begins a new table; undefined for none. */
  take(): DocumentTable | undefined;
}

interface CellDefinition {
  readonly isMergedUp: boolean;
  /** The right end of the cell on the page, in twips. */
  readonly right: number;
}

interface Row {
  readonly texts: readonly string[];
  readonly definitions: readonly CellDefinition[];
}

/** A row has no more cells than this. The last one has the texts of further ones, too. */
const MAX_CELLS = 1_000;
/** Edges that are less than a point and a half apart, in twips, are the same one. */
const SAME_EDGE = 30;

export function createTable(): RtfTable {
  let rows: Row[] = [];
  let headerRows = 0;
  let texts: string[] = [];
  let definitions: CellDefinition[] = [];
  let isMergedUp = false;
  let isHeader = false;
  const endRow = (): void => {
    if (texts.length === 0) return;
    if (isHeader && headerRows === rows.length) headerRows += 1;
    rows.push({ texts, definitions });
    texts = [];
  };
  return {
    control: (word, parameter) => {
      if (word === 'trowd') {
        definitions = [];
        isHeader = false;
      } else if (word === 'cellx' && definitions.length < MAX_CELLS)
        definitions.push({ isMergedUp, right: parameter ?? 0 });
      isHeader ||= word === 'trhdr';
      if (word === 'clvmrg') isMergedUp = true;
      else if (word === 'cellx' || word === 'trowd') isMergedUp = false;
    },
    endCell: (text) => {
      const further = texts.length < MAX_CELLS ? '' : `${texts.pop() ?? ''} `;
      texts.push(further + text.trim());
    },
    endRow,
    take: () => {
      endRow();
      if (rows.length === 0) return undefined;
      const table = { rows: layOut(rows), headerRows };
      rows = [];
      headerRows = 0;
      return table;
    },
  };
}

/** Gives cells the columns that they reach over, and repeats cells that reach down from the row above. */
function layOut(rows: readonly Row[]): SpanningCell[][] {
  const edges = sharedEdges(rows);
  let above = new Map<number, SpanningCell>();
  return rows.map((row) => {
    let column = 0;
    const begins = new Map<number, SpanningCell>();
    for (const [index, text] of row.texts.entries()) {
      const { isMergedUp = false, right = 0 } = row.definitions[index] ?? {};
      const columns = edges === undefined ? 1 : Math.max(1, edgeAt(edges, right) + 1 - column);
      const own = { text, columns, rows: 1 };
      begins.set(column, isMergedUp && text === '' ? (above.get(column) ?? own) : own);
      column += columns;
    }
    above = begins;
    return [...begins.values()];
  });
}

/**
 * Returns the edges of the row with the most cells, where the edges of all rows are among them: a cell that ends at a later
 * edge than its own reaches over several columns. Undefined where rows are divided each in its own way.
 */
function sharedEdges(rows: readonly Row[]): readonly number[] | undefined {
  const [first] = rows;
  if (!first) return undefined;
  const widest = rows.reduce((most, row) => (row.texts.length > most.texts.length ? row : most), first);
  const edges = widest.definitions.slice(0, widest.texts.length).map(({ right }) => right);
  const rises = edges.every((edge, index) => edge > (edges[index - 1] ?? -Infinity) + SAME_EDGE);
  const isShared = rows.every(
    ({ texts, definitions }) =>
      definitions.length >= texts.length &&
      definitions
        .slice(0, texts.length)
        .every(({ right }) => Math.abs((edges[edgeAt(edges, right)] ?? Infinity) - right) <= SAME_EDGE),
  );
  return rises && isShared ? edges : undefined;
}

/** The first edge that is not left of a place. */
function edgeAt(edges: readonly number[], place: number): number {
  let [low, high] = [0, edges.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((edges[middle] ?? 0) + SAME_EDGE < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
