import type { TextItem } from '@llamaindex/liteparse';
import { isBold, sizeOf } from '../../pages/native-pieces.js';
import { around, bottomOf, holds, median, rightOf, type Piece } from '../../pages/layout/piece.js';
import type { Rectangle } from '../../../blocks/location.js';
import type { Ruling, Rulings } from '../../pages/tables/rulings.js';
import { EAST_ASIAN, type Glyph, type TextColumn } from './find-columns.js';

/** The page may have columns of single characters if at least this many stand alone on their lines or apart from each other. */
const MIN_APART = 6;
const APART = new RegExp(`^${EAST_ASIAN}(?: +${EAST_ASIAN})*$`, 'u');
/** Parts of characters that stand for the same character by itself. pdf.js gives them for fonts whose maps do. */
const RADICAL = /[\u2e80-\u2eff]/;
/** Ink of characters such as commas is so far off the middle of their place, in sizes of the font. */
const FARTHEST_INK = 0.55;
/** A column of which PDFium shows a smaller share of characters is not on the page as it is shown. */
const MIN_SHOWN = 0.6;
/** Columns are of one text when they are less far apart, in sizes of their font. */
const MAX_GAP = 4;
/** Larger text is a text of its own; so are the small readings beside characters. */
const MAX_LARGER = 1.6;
/** Columns may touch a line that parts them. */
const SAME_PLACE = 2;
const MAX_COMPARED = 4_000_000;

/** Tells whether enough characters stand apart from their neighbours that they may be read downwards. */
export function mayStandInColumns(items: readonly TextItem[]): boolean {
  let apart = 0;
  for (const { text } of items) {
    if (text.length > 200 || !APART.test(text.trim())) continue;
    apart += text.replace(/\s+/g, '').length;
    if (apart >= MIN_APART) return true;
  }
  return false;
}

/** Parts the texts of a page into texts outside of columns that run from top to bottom, and these as pieces of their own. */
export function takeColumns(
  items: readonly TextItem[],
  { columns, rulings }: { readonly columns: readonly TextColumn[]; readonly rulings: Rulings },
): { readonly items: readonly TextItem[]; readonly pieces: readonly Piece[] } {
  const nothing = { items, pieces: [] };
  if (columns.length === 0 || items.length * columns.length > MAX_COMPARED) return nothing;
  const shown = columns.flatMap((column) => shownOf(column, items));
  if (shown.length === 0) return nothing;
  const left = items.flatMap((item) => withoutColumns(item, shown));
  return { items: left, pieces: textsOf(shown, rulings).map((text) => pieceOf(text, items)) };
}

/** Returns the column with the characters that PDFium shows; none where these are few. */
function shownOf(column: TextColumn, items: readonly TextItem[]): TextColumn[] {
  const near = items
    .map((item) => ({ item, box: wider(item, FARTHEST_INK * column.size) }))
    .filter(({ box }) => touches(box, column));
  const glyphs = column.glyphs.flatMap((glyph): Glyph[] => {
    const at = near.filter(({ box }) => holds(box, pointOf(glyph)));
    if (at.length === 0) return [];
    const text = RADICAL.test(glyph.text)
      ? characterAt(
          at.map(({ item }) => item),
          glyph,
        )
      : undefined;
    return [text === undefined ? glyph : { ...glyph, text }];
  });
  return glyphs.length === 0 || glyphs.length < MIN_SHOWN * column.glyphs.length
    ? []
    : [{ ...column, glyphs }];
}

/** The Han character that PDFium shows at a place. */
function characterAt(items: readonly TextItem[], { x, y }: Glyph): string | undefined {
  const item = items.find((each) => holds(each, pointOf({ x, y, text: '' })));
  if (!item) return undefined;
  const characters = [...item.text.replace(/\s+/g, '')];
  const found = characters[Math.floor(((x - item.x) / item.width) * characters.length)];
  return found !== undefined && /\p{Script=Han}/u.test(found) ? found : undefined;
}

const pointOf = ({ x, y }: Glyph): Rectangle => ({ x, y, width: 0, height: 0 });

const wider = ({ x, y, width, height }: Rectangle, by: number): Rectangle => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

const touches = (one: Rectangle, other: Rectangle): boolean =>
  one.x < rightOf(other) && other.x < rightOf(one) && one.y < bottomOf(other) && other.y < bottomOf(one);

/** Returns the rest of an item beside the characters of columns: nothing, or the item with the rest. */
function withoutColumns(item: TextItem, columns: readonly TextColumn[]): TextItem[] {
  const inside = columns.filter((column) => touches(item, column));
  if (inside.length === 0) return [item];
  // The two readers may give different characters for the same.
  if (APART.test(item.text.trim()) && inside.some((column) => holds(around([column]), item))) return [];
  const within = inside.flatMap(({ size, glyphs }) =>
    glyphs.filter((glyph) => holds(wider(item, FARTHEST_INK * size), pointOf(glyph))),
  );
  const taken = [
    ...within
      .map(({ text }) => text)
      .join('')
      .normalize('NFKC'),
  ];
  const left = [...item.text].filter((character) => {
    const at = taken.indexOf(character.normalize('NFKC'));
    if (at >= 0) taken.splice(at, 1);
    return at < 0;
  });
  const text = left.join('').trim();
  if (!/[\p{L}\p{N}]/u.test(text) || (APART.test(item.text.trim()) && text.length <= taken.length)) return [];
  if (text.length === item.text.trim().length) return [item];
  return [{ ...item, text, ...beside(item, text, within) }];
}

/** About where the text stands that is left of an item when characters at one of its ends are taken. */
function beside(item: TextItem, text: string, taken: readonly Glyph[]): Pick<Rectangle, 'x' | 'width'> {
  const ems = [...text].reduce((sum, each) => sum + widthOf(each), 0);
  const width = Math.min(item.width, ems * sizeOf(item));
  const isAtRight = taken.every(({ x }) => x < item.x + item.width / 2);
  return { x: isAtRight ? rightOf(item) - width : item.x, width };
}

/** The usual width of a character, in sizes of its font. */
function widthOf(character: string): number {
  if (character === ' ') return 0.2;
  return /[\u1100-\uffdc]/.test(character) ? 1 : 0.55;
}

/** Groups columns that stand beside and below each other, as far as no line parts them. */
function textsOf(columns: readonly TextColumn[], { across, down }: Rulings): TextColumn[][] {
  const texts: TextColumn[][] = [];
  for (const column of columns) {
    const isNear = (other: TextColumn): boolean =>
      touches(wider(other, MAX_GAP * other.size), column) &&
      Math.max(other.size, column.size) <= MAX_LARGER * Math.min(other.size, column.size) &&
      !across.some((ruling) => parts(ruling, { one: upright(column), other: upright(other) })) &&
      !down.some((ruling) => parts(ruling, { one: column, other }));
    const own = texts.filter((text) => text.some(isNear));
    const joined = [...own.flat(), column];
    for (const text of own) texts.splice(texts.indexOf(text), 1);
    texts.push(joined);
  }
  return texts;
}

const upright = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: y,
  y: x,
  width: height,
  height: width,
});

/** Tells whether a line that runs downwards stands between two columns. */
function parts({ at, from, to }: Ruling, { one, other }: { one: Rectangle; other: Rectangle }): boolean {
  const [left, right] = one.x < other.x ? [one, other] : [other, one];
  if (rightOf(left) > at + SAME_PLACE || right.x < at - SAME_PLACE) return false;
  return from < Math.min(bottomOf(left), bottomOf(right)) && to > Math.max(left.y, right.y);
}

function pieceOf(columns: readonly TextColumn[], items: readonly TextItem[]): Piece {
  const lines = columns.map((column): Piece => {
    const own = items.filter((item) => holds(column, item));
    const size = own.length > 0 ? median(own.map(sizeOf)) : column.size;
    const { x, y, width, height } = column;
    const text = column.glyphs.map((glyph) => glyph.text).join('');
    return { text, x, y, width, height, size, isBold: own.length > 0 && own.every(isBold) };
  });
  return {
    ...around(lines),
    text: lines.map(({ text }) => text).join('\n'),
    size: median(lines.map(({ size }) => size)),
    isBold: false,
    columns: lines,
  };
}
