import type { LayoutBlock, LayoutCell, ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../../shared/extraction/location.js';
import { around, holds } from '../pages/layout/piece.js';

/** The page with further texts, which tables have in their cells, too. */
export function withItems(page: ParsedPage, items: readonly TextItem[]): ParsedPage {
  if (items.length === 0) return page;
  const blocks = page.blocks?.map((block) => (block.kind === 'table' ? filled(block, items) : block));
  return { ...page, textItems: [...page.textItems, ...items], ...(blocks && { blocks }) };
}

/** The table with further texts in those of its cells where they stand, if they stand in a row of it. */
function filled(block: LayoutBlock, items: readonly TextItem[]): LayoutBlock {
  const { bbox, header = [], rows = [] } = block;
  const within = items.filter((item) => bbox && holds(bbox, item));
  if (within.length === 0) return block;
  const table = [header, ...rows].map((row) => [...row]);
  const columns = (table[1] ?? []).map((_, at) => boxOf(table.flatMap((row) => row[at] ?? [])));
  const heights = table.map(boxOf);
  for (const { text, x, y, width, height } of within) {
    const box = { x, y, width, height };
    const row = table[heights.findIndex((row) => isBeside(row, box))];
    const at = nearest(columns, box);
    const cell = row?.[at];
    if (row && cell) row[at] = withText(cell, { text: text.trim(), bbox: box });
  }
  const [first = [], ...others] = table;
  return { ...block, header: first, rows: others };
}

function withText({ text, bbox }: LayoutCell, added: Required<LayoutCell>): LayoutCell {
  if (text === '' || !bbox) return added;
  const isFirst = added.bbox.x < bbox.x;
  return {
    text: isFirst ? `${added.text} ${text}` : `${text} ${added.text}`,
    bbox: around([bbox, added.bbox]),
  };
}

function boxOf(cells: readonly LayoutCell[]): Rectangle | undefined {
  const boxes = cells.flatMap(({ bbox }) => (bbox ? [bbox] : []));
  return boxes.length > 0 ? around(boxes) : undefined;
}

const middleOf = ({ x, width }: Rectangle): number => x + width / 2;

/** Tells whether a text stands at the height of a row. */
const isBeside = (row: Rectangle | undefined, box: Rectangle): boolean =>
  row !== undefined && holds({ ...row, x: box.x, width: box.width }, box);

/** The column whose middle is nearest to that of a text. */
function nearest(columns: readonly (Rectangle | undefined)[], box: Rectangle): number {
  const far = (column: Rectangle | undefined) =>
    column ? Math.abs(middleOf(column) - middleOf(box)) : Infinity;
  return columns.reduce((best, column, at) => (far(column) < far(columns[best]) ? at : best), 0);
}
