/** A longer text is not repeated in the cells that a merged one covers. */
const MAX_REPEATED = 100;
/** Most columns of a table of text. */
export const MAX_COLUMNS = 1_000;

export interface SpanningCell {
  readonly text: string;
  /** The number of columns that the cell covers. */
  readonly span: number;
  /** True if the cell goes on downwards from the row above. */
  readonly isContinued: boolean;
}

/**
 * Makes rows of a table with merged cells into rows of single ones: the text of a merged cell stands in each cell that it
 * covers, so that every row and column can be understood alone. A cell over the whole width stands in its row once.
 *
 * @param admits is asked for a text that stands in a cell which another covers, and is not shown
 */
export function createUnmerge(
  admits: (covered: string) => boolean,
): (cells: readonly SpanningCell[]) => string[] {
  let above: readonly string[] = [];
  return (cells) => {
    const row: string[] = [];
    const below: string[] = [];
    for (const { text, span, isContinued } of cells) {
      const over = isContinued ? above[row.length] : undefined;
      const shown = over ?? text;
      const repeated = shown.length > MAX_REPEATED || cells.length === 1 ? '' : shown;
      const first = over !== undefined && shown.length > MAX_REPEATED ? repeated : shown;
      const isRead = over !== undefined && text !== '' && admits(text);
      row.push(isRead ? `${first} ${text}`.trim() : first);
      below.push(first);
      for (let column = 1; column < span && row.length < MAX_COLUMNS; column += 1) {
        row.push(repeated);
        below.push(repeated);
      }
    }
    above = below;
    return row;
  };
}
