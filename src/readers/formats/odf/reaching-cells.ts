import { spanOf } from '../tables/span-cells.js';
import type { Attributes } from '../xml/read-markup.js';

/** A longer text is not repeated in the rows that its cell reaches over. */
const MAX_REPEATED_CHARACTERS = 200;
/** Most cells that reach into one row from above. */
const MAX_AT_ONCE = 200;

/** The texts of cells of a sheet that reach over rows below theirs. */
export interface ReachingCells {
  add(column: number, attributes: Attributes, text: string): void;
  /** The text of the cell above that reaches into the next row at a column; empty for none. */
  textAt(column: number): string;
  endRow(repetitions: number): void;
}

export function createReachingCells(): ReachingCells {
  let above = new Map<number, { readonly text: string; readonly rowsLeft: number }>();
  const next: typeof above = new Map();
  return {
    add: (column, attributes, text) => {
      const rowsLeft = spanOf(attributes['table:number-rows-spanned']);
      if (rowsLeft > 1 && text.length <= MAX_REPEATED_CHARACTERS && next.size < MAX_AT_ONCE)
        next.set(column, { text, rowsLeft });
    },
    textAt: (column) => above.get(column)?.text ?? '',
    endRow: (repetitions) => {
      const all = [...above, ...next].map(
        ([column, cell]) => [column, withoutRows(cell, repetitions)] as const,
      );
      above = new Map(all.filter(([, { rowsLeft }]) => rowsLeft > 0));
      next.clear();
    },
  };
}

const withoutRows = ({ text, rowsLeft }: { text: string; rowsLeft: number }, count: number) => ({
  text,
  rowsLeft: rowsLeft - count,
});
