import type { Block } from '../../../blocks/block.js';
import { tableBlocks } from '../../tables/table-blocks.js';
import { orderColumns } from './columns.js';
import { joinInitials } from './initials.js';
import { joinLines } from './lines.js';
import { paragraphsOf, type Paragraph } from './paragraphs.js';
import type { Rectangle } from '../../../blocks/location.js';
import { around, type Piece } from './piece.js';

const MAX_HEADING_LENGTH = 200;
/** The beginning of a list item, as on slides, whose texts are larger than the texts of other pages. */
const ITEM = /^[•◦▪‣●○■–—-]\s/;

export interface LayoutPage {
  readonly page: number;
  readonly pieces: readonly Piece[];
  /** The size of ordinary text in the document, in points. */
  readonly bodySize: number;
}

/** Turns the pieces of a page into blocks in reading order. */
export function* pageBlocks({ page, pieces, bodySize }: LayoutPage): Iterable<Block> {
  const columns = orderColumns(joinLines(joinInitials(pieces.filter(({ isTurned }) => !isTurned))));
  for (const group of [...columns.map(paragraphsOf), turnedParagraphs(pieces)])
    for (const paragraph of group) {
      const place = { page, boxes: [rounded(paragraph.box)] };
      if (paragraph.columns) yield* columnBlocks(paragraph.columns, { page, bodySize });
      else if (paragraph.table) {
        yield* tableBlocks(
          paragraph.table.map(({ cells, box }) => ({
            cells,
            place: { page, boxes: [rounded(box ?? paragraph.box)] },
          })),
        );
      } else if (paragraph.text !== '')
        yield { text: `${paragraph.text}\n\n`, place, heading: headingLevel(paragraph, bodySize) };
    }
}

/** Columns are read as lines of a page that is turned so that they run from left to right, the rightmost one at its top. */
function* columnBlocks(
  columns: readonly Piece[],
  { page, bodySize }: Omit<LayoutPage, 'pieces'>,
): Iterable<Block> {
  const pieces = columns.map((column) => ({ ...column, ...turned(column) }));
  for (const block of pageBlocks({ page, pieces, bodySize })) {
    const boxes = block.place?.boxes?.map((box) => rounded(turnedBack(box)));
    yield { ...block, place: { page, boxes } };
  }
}

const turned = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: y,
  y: -x - width,
  width: height,
  height: width,
});

const turnedBack = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: -y - height,
  y: x,
  width: height,
  height: width,
});

/** Text that runs across the others, such as stamps on a margin, comes after them. */
function turnedParagraphs(pieces: readonly Piece[]): Paragraph[] {
  const turned = pieces.filter(({ isTurned }) => isTurned);
  if (turned.length === 0) return [];
  const text = turned.map((piece) => piece.text).join(' ');
  return [{ text, box: around(turned), size: 0, isBold: false, lines: turned.length }];
}

/** The level of a heading by its size; undefined for other text. */
function headingLevel({ text, lines, size, isBold }: Paragraph, bodySize: number): number | undefined {
  if (lines > 3 || text.length > MAX_HEADING_LENGTH || bodySize === 0) return undefined;
  if (!/\p{L}/u.test(text) || /[.,;:]$/.test(text) || ITEM.test(text)) return undefined;
  const ratio = size / bodySize;
  if (ratio >= 1.6) return 1;
  if (ratio >= 1.3) return 2;
  if (ratio >= (isBold ? 1.08 : 1.12)) return 3;
  const numbers = isBold && lines === 1 && ratio > 0.95 ? /^\d{1,3}(?:\.\d{1,3}){0,3}/.exec(text) : null;
  return numbers ? Math.min(6, 3 + (numbers[0].match(/\./g)?.length ?? 0)) : undefined;
}

/** Tenths of a point are enough. */
export const rounded = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: toTenth(x),
  y: toTenth(y),
  width: toTenth(width),
  height: toTenth(height),
});

const toTenth = (value: number): number => Math.round(value * 10) / 10;
