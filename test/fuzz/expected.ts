import type { Cell, Mark, Part, Run, Sample } from './sample.js';

/** The text that has to be read of some parts. */
export function expectedOf(
  parts: readonly Part[],
  { repeatsOverColumns = false }: { readonly repeatsOverColumns?: boolean },
): Omit<Sample, 'document'> {
  const lines: string[] = [];
  const tables: string[][][] = [];
  for (const part of parts) {
    if (part.kind === 'list')
      lines.push(...part.items.map((item, index) => numberOf(part, index) + writtenOf(item)));
    else if (part.kind === 'table') {
      const rows = rowsOf(part.rows, repeatsOverColumns);
      tables.push(rows);
      lines.push(...rows.map((cells) => cells.filter((cell) => cell !== '').join(' ')));
    } else lines.push(writtenOf(part.runs));
  }
  return { text: lines.join('\n'), tables, marks: parts.flatMap(marksOf) };
}

function marksOf(part: Part): Mark[] {
  const runs =
    part.kind === 'list'
      ? part.items.flat()
      : part.kind === 'table'
        ? part.rows.flat().flatMap((cell) => cell.runs)
        : part.runs;
  return runs.flatMap(({ begins: kind, written = '' }) => (kind === undefined ? [] : [{ kind, written }]));
}

const numberOf = ({ isOrdered }: { isOrdered: boolean }, index: number): string =>
  isOrdered ? `${String(index + 1)}. ` : '';

const writtenOf = (runs: readonly Run[]): string => runs.map(({ text, written }) => written ?? text).join('');

/** Puts each cell into its column. What reaches over rows is repeated in each, and over columns in some formats. */
function rowsOf(rows: readonly (readonly Cell[])[], repeatsOverColumns: boolean): string[][] {
  const width = (rows[0] ?? []).reduce((sum, { columns = 1 }) => sum + columns, 0);
  const grid = rows.map(() => Array.from({ length: width }, (): string | undefined => undefined));
  for (const [row, cells] of rows.entries()) {
    for (const { runs, columns = 1, rows: height = 1 } of cells) {
      const column = grid[row]?.indexOf(undefined) ?? 0;
      // A cell over the whole width stands in its row once.
      const isRepeated = repeatsOverColumns && columns < width;
      for (let y = row; y < row + height; y += 1)
        for (let x = column; x < column + columns; x += 1)
          put(grid, { x, y }, isRepeated || x === column ? writtenOf(runs) : '');
    }
  }
  return grid.map((cells) => cells.map((cell) => cell ?? ''));
}

function put(grid: (string | undefined)[][], { x, y }: { x: number; y: number }, text: string): void {
  const cells = grid[y];
  if (cells) cells[x] = text;
}
