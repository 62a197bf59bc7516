import type { LayoutBlock, LayoutCell, ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../blocks/location.js';
import { around, holds } from '../pages/layout/piece.js';
import { MIN_SIZE } from '../visibility/reason-unseen.js';

const MAX_LINES = 200;

/** The lines of a text that are not blank; of very many, the last one has the rest. */
export function linesOf(text: string): string[] {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES - 1), lines.slice(MAX_LINES - 1).join(' ')];
}

/** The size of letters of lines as high as this. In a box that has no room for all of its lines, they are not too small to be read. */
export const letterHeight = (height: number, box: Rectangle): number =>
  Math.max(0.8 * height, Math.min(MIN_SIZE, 0.8 * box.height));

/** The page with further texts, which tables have in their cells, too. */
export function withItems(page: ParsedPage, items: readonly TextItem[]): ParsedPage {
  if (items.length === 0) return page;
  const blocks = page.blocks?.map((block) => (block.kind === 'table' ? filled(block, items) : block));
  return { ...page, textItems: [...page.textItems, ...items], ...(blocks && { blocks }) };
}

/** The page with other texts in place of some of its own, which tables have in their cells, too; none for an empty one. */
export function withTexts(page: ParsedPage, texts: ReadonlyMap<TextItem, string>): ParsedPage {
  if (texts.size === 0) return page;
  const blocks = page.blocks?.map((block) => (block.kind === 'table' ? renamed(block, texts) : block));
  const textItems = page.textItems.flatMap((item) => {
    const text = texts.get(item) ?? item.text;
    return text === '' ? [] : [{ ...item, text }];
  });
  return { ...page, textItems, ...(blocks && { blocks }) };
}

function renamed(block: LayoutBlock, texts: ReadonlyMap<TextItem, string>): LayoutBlock {
  const { bbox, header = [], rows = [] } = block;
  const within = [...texts].filter(([item]) => bbox && holds(bbox, item));
  if (within.length === 0) return block;
  const table = [header, ...rows].map((row) => [...row]);
  for (const [item, text] of within) change(table, item, text);
  const [first = [], ...others] = table;
  return { ...block, header: first, rows: others };
}

function change(table: LayoutCell[][], item: TextItem, text: string): void {
  const before = item.text.trim();
  const hasText = (cell: LayoutCell): boolean => cell.text.includes(before);
  const isPlace = (cell: LayoutCell): boolean => cell.bbox !== undefined && holds(cell.bbox, item);
  const row =
    table.find((cells) => cells.some((cell) => hasText(cell) && isPlace(cell))) ??
    table.find((cells) => cells.some(hasText));
  const at = row?.findLastIndex((cell) => hasText(cell) && isPlace(cell)) ?? -1;
  const index = at >= 0 ? at : (row?.findIndex(hasText) ?? -1);
  const cell = row?.[index];
  if (row && cell) row[index] = { ...cell, text: cell.text.replace(before, () => text).trim() };
}

/** Returns the table with further texts in the cells where they stand, if they stand in a row of it. */
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

/** Returns the column whose middle is nearest to the middle of a text. */
function nearest(columns: readonly (Rectangle | undefined)[], box: Rectangle): number {
  const far = (column: Rectangle | undefined) =>
    column ? Math.abs(middleOf(column) - middleOf(box)) : Infinity;
  return columns.reduce((best, column, at) => (far(column) < far(columns[best]) ? at : best), 0);
}
