import type { Cell, Part, Run, Sample } from './sample.js';

/** What has to be read of some parts. */
export function expectedOf(parts: readonly Part[]): Pick<Sample, 'text' | 'tables'> {
  const lines: string[] = [];
  const tables: string[][][] = [];
  for (const part of parts) {
    if (part.kind === 'list')
      lines.push(...part.items.map((item, index) => numberOf(part, index) + writtenOf(item)));
    else if (part.kind === 'table') {
      const rows = rowsOf(part.rows);
      tables.push(rows);
      lines.push(...rows.map((cells) => cells.filter((cell) => cell !== '').join(' ')));
    } else lines.push(writtenOf(part.runs));
  }
  return { text: lines.join('\n'), tables };
}

const numberOf = ({ isOrdered }: { isOrdered: boolean }, index: number): string =>
  isOrdered ? `${String(index + 1)}. ` : '';

const writtenOf = (runs: readonly Run[]): string => runs.map(({ text, written }) => written ?? text).join('');

/** Puts each cell into its column. What reaches over rows is repeated in each, and over columns it is in the first. */
function rowsOf(rows: readonly (readonly Cell[])[]): string[][] {
  const width = (rows[0] ?? []).reduce((sum, { columns = 1 }) => sum + columns, 0);
  const grid = rows.map(() => Array.from({ length: width }, (): string | undefined => undefined));
  for (const [row, cells] of rows.entries()) {
    for (const { runs, columns = 1, rows: height = 1 } of cells) {
      const column = grid[row]?.indexOf(undefined) ?? 0;
      for (let y = row; y < row + height; y += 1)
        for (let x = column; x < column + columns; x += 1) put(grid, { x, y }, x === column ? writtenOf(runs) : '');
    }
  }
  return grid.map((cells) => cells.map((cell) => cell ?? ''));
}

function put(grid: (string | undefined)[][], { x, y }: { x: number; y: number }, text: string): void {
  const cells = grid[y];
  if (cells) cells[x] = text;
}
