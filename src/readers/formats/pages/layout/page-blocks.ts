import { countMatches } from '../../../blocks/matches.js';
import type { Block, LineBox } from '../../../blocks/block.js';
import type { Rectangle } from '../../../blocks/location.js';
import { tableBlocks } from '../../tables/table-blocks.js';
import { orderColumns } from './columns.js';
import { joinLines, joinRun, rowsOf } from './lines.js';
import { around, bottomOf, rightOf, standsAlone, isRightToLeft, median, type Piece } from './piece.js';
import { joinParagraph } from './unspaced-lines.js';
import { addTo, at } from '../../../../shared/at.js';

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
        yield {
          text: `${paragraph.text}\n\n`,
          place,
          lines: paragraph.lines.length > 1 ? paragraph.lines : undefined,
          heading: headingLevel(paragraph, bodySize),
        };
    }
}

/** Columns are read as lines of a page that is turned so that they run from left to right, the rightmost one at its top. */
function* columnBlocks(
  columns: readonly Piece[],
  { page, bodySize }: Omit<LayoutPage, 'pieces'>,
): Iterable<Block> {
  const pieces = columns.map((column) => ({ ...column, ...turned(column) }));
  for (const block of pageBlocks({ page, pieces, bodySize })) yield withBoxes(block, turnedBack);
}

/** The same block with other rectangles, rounded. */
export function withBoxes(block: Block, change: (box: Rectangle) => Rectangle): Block {
  const { place, lines } = block;
  const changed = (box: Rectangle) => rounded(change(box));
  return {
    ...block,
    place: place && { ...place, boxes: place.boxes?.map(changed) },
    lines: lines?.map(({ start, box }) => ({ start, box: changed(box) })),
  };
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
  const across = pieces.filter(({ isTurned }) => isTurned);
  if (across.length === 0) return [];
  const text = across.map((piece) => piece.text).join(' ');
  return [{ text, box: around(across), size: 0, isBold: false, lines: [] }];
}

/** The level of a heading by its size; undefined for other text. */
function headingLevel({ text, lines, size, isBold }: Paragraph, bodySize: number): number | undefined {
  if (lines.length > 3 || text.length > MAX_HEADING_LENGTH || bodySize === 0) return undefined;
  if (!/\p{L}/u.test(text) || /[.,;:]$/.test(text) || ITEM.test(text)) return undefined;
  const ratio = size / bodySize;
  if (ratio >= 1.6) return 1;
  if (ratio >= 1.3) return 2;
  if (ratio >= (isBold ? 1.08 : 1.12)) return 3;
  const numbers =
    isBold && lines.length === 1 && ratio > 0.95 ? /^\d{1,3}(?:\.\d{1,3}){0,3}/.exec(text) : null;
  return numbers ? Math.min(6, 3 + countMatches(numbers[0], /\./g)) : undefined;
}

/** Tenths of a point are enough. */
export const rounded = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: toTenth(x),
  y: toTenth(y),
  width: toTenth(width),
  height: toTenth(height),
});

const toTenth = (value: number): number => Math.round(value * 10) / 10;

/** The least ratio of an initial's size to the size of the text that it begins. */
const MIN_INITIAL_RATIO = 1.8;
/** The least number of lines that it stands before. */
const MIN_INITIAL_LINES = 2;
/** The widest gap between it and its lines, in sizes of their font. */
const MAX_INITIAL_GAP = 1.5;

/** No page has more of them. */
const MAX_INITIALS = 50;

const INITIAL = /^["'“”„«‘’¿¡]?\p{Lu}$/u;

/** Puts large first letters, which reach over several lines, before the words that they begin. */
function joinInitials(pieces: readonly Piece[]): readonly Piece[] {
  const initials = pieces
    .filter((piece) => !standsAlone(piece) && INITIAL.test(piece.text))
    .slice(0, MAX_INITIALS);
  const joined = new Map<Piece, Piece | undefined>();
  for (const initial of initials) {
    const lines = pieces.filter((piece) => isLineOf(initial, piece)).toSorted((a, b) => a.y - b.y);
    const [first, second] = [lines[0], lines[MIN_INITIAL_LINES - 1]];
    if (!first || !second || second.y - first.y < 0.5 * first.size) continue;
    const width = rightOf(first) - initial.x;
    joined.set(first, { ...first, text: initial.text + first.text, x: initial.x, width });
    joined.set(initial, undefined);
  }
  if (joined.size === 0) return pieces;
  return pieces.flatMap((piece) => (joined.has(piece) ? (joined.get(piece) ?? []) : piece));
}

/** Tells whether a text stands directly to the right of an initial, at its height. */
function isLineOf(initial: Piece, piece: Piece): boolean {
  const { x, y, height, size } = piece;
  const gap = x - rightOf(initial);
  const middle = y + height / 2;
  return (
    !standsAlone(piece) &&
    size * MIN_INITIAL_RATIO <= initial.size &&
    Math.abs(gap) < MAX_INITIAL_GAP * size &&
    middle > initial.y &&
    middle < bottomOf(initial)
  );
}

/** Lines that belong together. */
interface Paragraph {
  /** The texts of its lines, each on a line of its own unless it goes on within a word. */
  readonly text: string;
  readonly box: Rectangle;
  readonly size: number;
  readonly isBold: boolean;
  readonly lines: readonly LineBox[];
  readonly table?: Piece['table'];
  readonly columns?: Piece['columns'];
}

/** Parts the lines of a column into paragraphs, by gaps, sizes, and first lines that are set in. */
export function paragraphsOf(column: readonly Piece[]): Paragraph[] {
  const lines = rowsOf(column).map((row) => joinRun(row));
  const usual = usualGap(lines);
  const some = lines.slice(0, 5_000);
  const edges = { left: Math.min(...some.map(({ x }) => x)), right: Math.max(...some.map(rightOf)) };
  const groups: Piece[][] = [];
  let last: Piece | undefined;
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && last && continues(last, line, { usual, ...edges })) group.push(line);
    else groups.push([line]);
    last = line;
  }
  return groups.map((group) => toParagraph(group, edges.right - edges.left));
}

/** The usual distance from the bottom of a line to the top of the next, in sizes of its font. */
function usualGap(lines: readonly Piece[]): number {
  const gaps = lines.flatMap((line, index) => {
    const before = lines[index - 1];
    return before ? [(line.y - bottomOf(before)) / line.size] : [];
  });
  const near = gaps.filter((gap) => gap < 1.5);
  return near.length === 0 ? 0.3 : median(near);
}

function continues(
  before: Piece,
  line: Piece,
  { usual, left, right }: { usual: number; left: number; right: number },
): boolean {
  if (standsAlone(before) || standsAlone(line)) return false;
  const gap = (line.y - bottomOf(before)) / Math.max(line.size, before.size);
  if (gap > usual + 0.35) return false;
  const ratio = line.size / before.size;
  if (ratio > 1.15 || ratio < 0.87) return false;
  const isEven = Math.abs(rightOf(before) - rightOf(line)) <= 2 * line.size;
  const room = isRightToLeft(line.text) ? before.x - left : right - rightOf(before);
  if (line.isBold !== before.isBold && !isEven && firstWord(line) < room) return false;
  const isSetIn = line.x - before.x > line.size && before.x - left < line.size;
  return !(isSetIn && /[.:!?。]["”»)]?$/.test(before.text));
}

/** The width of the first word of a line, and a space. */
function firstWord({ text, width }: Piece): number {
  const space = text.indexOf(' ');
  return space < 0 ? width : (width * (space + 1)) / text.length;
}

function toParagraph(lines: readonly Piece[], width: number): Paragraph {
  const { text, starts } = joinParagraph(lines, width);
  return {
    text,
    box: around(lines),
    size: median(lines.map(({ size }) => size)),
    isBold: lines.every(({ isBold }) => isBold),
    lines: lines.map((line, i) => ({ start: at(starts, i), box: around([line]) })),
    table: lines[0]?.table,
    columns: lines[0]?.columns,
  };
}

const MAX_PIECES = 2_000;
const MAX_CHARACTERS = 400;
/** More sizes than a document has; at this number the sizes of earlier pages are forgotten. */
const MAX_SIZES = 10_000;

/** Finds the size of ordinary text in a document, in points: half of its characters are of that size or smaller. */
export function createBodySize() {
  const weights = new Map<number, number>();
  let total = 0;
  return {
    /** @param pieces the pieces of the next page */
    add(pieces: readonly Piece[]): void {
      if (weights.size > MAX_SIZES) {
        weights.clear();
        total = 0;
      }
      for (const { text, size } of pieces.slice(0, MAX_PIECES)) {
        const weight = Math.ceil(Math.min(text.length, MAX_CHARACTERS) / 20);
        addTo(weights, size, weight);
        total += weight;
      }
    },
    /** 0 while there is no text. */
    usual(): number {
      let left = Math.floor(total / 2);
      for (const [size, weight] of [...weights].sort(([a], [b]) => a - b)) {
        left -= weight;
        if (left < 0) return size;
      }
      return 0;
    },
  };
}
