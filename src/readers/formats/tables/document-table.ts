import type { Block, Place } from '../../blocks/block.js';
import { tableBlocks } from './table-blocks.js';
import { looksLikeHeader } from './header-rows.js';
import { spanCells, type SpanningCell } from './span-cells.js';

export interface DocumentTable {
  readonly rows: readonly (readonly SpanningCell[])[];
  /** The number of first rows that, as the file says, name the columns; 0 when it says nothing. */
  readonly headerRows: number;
  readonly place?: Place | undefined;
}

/** Writes a table of a text. One with one column is a frame around text, which is read as paragraphs. */
export function* documentTable({ rows, headerRows, place }: DocumentTable): Iterable<Block> {
  const [first = []] = spanCells(rows.slice(0, 1), 0);
  const named = headerRows > 0 || !looksLikeHeader(first) ? headerRows : 1;
  const laidOut = spanCells(rows, named);
  if (laidOut.every((cells) => cells.length < 2)) {
    for (const [text = ''] of laidOut) if (text !== '') yield { text: `${text}\n\n`, place };
    return;
  }
  yield* tableBlocks(
    laidOut.map((cells) => ({ cells, place })),
    { headerRows: named },
  );
}
