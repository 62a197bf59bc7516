import type { LayoutBlock, LayoutCell, ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../../shared/extraction/location.js';
import { around, holds } from '../pages/layout/piece.js';
import { turnBack } from '../pages/native-pieces.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';

/** A page with more texts is left as it was read. */
const MOST_ITEMS = 5_000;
/** How pages are turned to be read again. */
const ANGLE = 90;

interface Source {
  readonly pdfium: Pick<Pdfium, 'readUpright'>;
  readonly bytes: Uint8Array;
}

/**
 * PDFium's reader takes every number in the middle of a page's width for that of the page, and leaves it out of its texts
 * and tables, but not out of the plain text of the page. Pages that miss more than the number at their top or bottom are
 * read again on their side, where such a number does not stand in the middle.
 */
export async function addCentredNumbers(
  pages: readonly ParsedPage[],
  turns: ReadonlyMap<number, Turn>,
  { pdfium, bytes }: Source,
): Promise<readonly ParsedPage[]> {
  const incomplete = pages.filter((page) => !turns.has(page.pageNum) && missesNumbers(page));
  if (incomplete.length === 0) return pages;
  const askedFor = incomplete.map(({ pageNum }) => ({ page: pageNum, angle: ANGLE }) as const);
  const read = await pdfium.readUpright(bytes, askedFor).catch(() => []);
  const sideways = new Map(read.map((page) => [page.pageNum, page]));
  return pages.map((page) => {
    const other = incomplete.includes(page) ? sideways.get(page.pageNum) : undefined;
    return other ? withNumbers(page, other) : page;
  });
}

function missesNumbers({ text, textItems }: ParsedPage): boolean {
  if (textItems.length > MOST_ITEMS) return false;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (isShort(lines[0])) lines.shift();
  if (isShort(lines.at(-1))) lines.pop();
  return lettersOf(lines.join('')) > lettersOf(textItems.map((item) => item.text).join(''));
}

const isShort = (line = ''): boolean => line.trim().length < 4;

const lettersOf = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

function withNumbers(page: ParsedPage, sideways: ParsedPage): ParsedPage {
  const found = sideways.textItems
    .filter(({ text }) => /^[^\p{L}\s]{0,3}\d[^\p{L}\s]{0,3}$/u.test(text.trim()))
    .slice(0, MOST_ITEMS)
    .map((item): TextItem => ({ ...item, ...turnBack(item, { angle: ANGLE }, sideways), rotation: 0 }))
    .filter((item) => !page.textItems.some((other) => holds(other, item) || holds(item, other)));
  const lost = new Set<TextItem>();
  const blocks = page.blocks?.map((block) =>
    block.kind === 'table' ? filled(block, { found, lost }) : block,
  );
  const textItems = [...page.textItems, ...found.filter((item) => !lost.has(item))];
  return { ...page, textItems, ...(blocks && { blocks }) };
}

/** The table with further texts in those of its cells where they stand. Those that stand in no row of it are lost. */
export function filled(
  block: LayoutBlock,
  { found, lost }: { found: readonly TextItem[]; lost: Set<TextItem> },
): LayoutBlock {
  const { bbox, header = [], rows = [] } = block;
  const numbers = found.filter((item) => bbox && holds(bbox, item));
  if (numbers.length === 0) return block;
  const table = [header, ...rows].map((row) => [...row]);
  const columns = (table[1] ?? []).map((_, at) => boxOf(table.flatMap((row) => row[at] ?? [])));
  for (const item of numbers) {
    const { x, y, width, height } = item;
    const box = { x, y, width, height };
    const row = table.find((cells) => isBeside(boxOf(cells), box));
    const at = nearest(columns, box);
    const cell = row?.[at];
    if (row && cell) row[at] = withNumber(cell, { text: item.text.trim(), bbox: box });
    else lost.add(item);
  }
  const [first = [], ...others] = table;
  return { ...block, header: first, rows: others };
}

function withNumber({ text, bbox }: LayoutCell, number: Required<LayoutCell>): LayoutCell {
  if (text === '' || !bbox) return number;
  const isFirst = number.bbox.x < bbox.x;
  return {
    text: isFirst ? `${number.text} ${text}` : `${text} ${number.text}`,
    bbox: around([bbox, number.bbox]),
  };
}

function boxOf(cells: readonly LayoutCell[]): Rectangle | undefined {
  const boxes = cells.flatMap(({ bbox }) => (bbox ? [bbox] : []));
  return boxes.length > 0 ? around(boxes) : undefined;
}

const middleOf = ({ x, width }: Rectangle): number => x + width / 2;

/** Tells whether a number stands at the height of a row. */
const isBeside = (row: Rectangle | undefined, box: Rectangle): boolean =>
  row !== undefined && holds({ ...row, x: box.x, width: box.width }, box);

/** The column whose middle is nearest to that of a number. */
function nearest(columns: readonly (Rectangle | undefined)[], box: Rectangle): number {
  const far = (column: Rectangle | undefined) =>
    column ? Math.abs(middleOf(column) - middleOf(box)) : Infinity;
  return columns.reduce((best, column, at) => (far(column) < far(columns[best]) ? at : best), 0);
}
