/** A cell as a file writes it, which may reach over several columns and rows. */
export interface SpanningCell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

/** Most columns that merged cells may reach over. */
const MAX_COLUMNS = 1_000;
/** A longer text is not repeated in the rows that its cell reaches over. */
const MAX_REPEATED_CHARACTERS = 200;

interface Placed {
  readonly column: number;
  readonly cell: SpanningCell;
}

/**
 * Lays out cells that reach over several columns and rows. A cell that reaches over rows is repeated in each of them, and a
 * cell that reaches over columns of a header names each of these. Columns without any text are left out.
 * @param headerRows how many of the first rows name the columns
 */
export function spanCells(
  rows: readonly (readonly SpanningCell[])[],
  headerRows: number,
): readonly (readonly string[])[] {
  const placed = placeCells(rows);
  const used = new Set<number>();
  for (const row of placed) for (const { column, cell } of row) if (cell.text.trim() !== '') used.add(column);
  const columns = [...used].sort((left, right) => left - right);
  const position = new Map(columns.map((column, index) => [column, index]));
  return placed.map((row, index) => {
    const cells: string[] = [];
    for (const { column, cell } of row) {
      const last = index < headerRows ? column + cell.columns : column + 1;
      for (let next = column; next < last; next += 1) {
        const place = position.get(next);
        if (place !== undefined) cells[place] = cell.text;
      }
    }
    return Array.from(cells, (text: string | undefined) => text ?? '');
  });
}

/** Gives each cell its column, and repeats the cells that reach over rows. */
function placeCells(rows: readonly (readonly SpanningCell[])[]): Placed[][] {
  let reaching: (Placed & { readonly rowsLeft: number })[] = [];
  // Repeated cells may be a few times as many as the cells of the file, so that a small file does not become a large table.
  let allowance = 1_000;
  return rows.map((row) => {
    allowance += 8 * row.length - reaching.length;
    if (allowance < 0) reaching = [];
    const placed: Placed[] = [];
    const next: typeof reaching = [];
    let column = 0;
    const put = (item: Placed, rowsLeft: number): void => {
      placed.push(item);
      column = item.column + item.cell.columns;
      if (rowsLeft > 0 && item.cell.text.length <= MAX_REPEATED_CHARACTERS) next.push({ ...item, rowsLeft });
    };
    let above = 0;
    const putReaching = (): void => {
      for (let item = reaching[above]; item && item.column <= column; item = reaching[above]) {
        put(item, item.rowsLeft - 1);
        above += 1;
      }
    };
    for (const cell of row) {
      putReaching();
      const width = Math.min(cell.columns, Math.max(1, MAX_COLUMNS - column));
      put({ column, cell: { ...cell, columns: width } }, cell.rows - 1);
    }
    for (const item of reaching.slice(above)) put(item, item.rowsLeft - 1);
    reaching = next.sort((left, right) => left.column - right.column);
    return placed;
  });
}

/** Reads how many columns or rows a cell reaches over. */
export function spanOf(attribute: string | undefined): number {
  const count = Number.parseInt(attribute ?? '1', 10);
  return Number.isFinite(count) ? Math.min(Math.max(count, 1), 65_534) : 1;
}
