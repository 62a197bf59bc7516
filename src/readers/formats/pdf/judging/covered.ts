import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import { bottomOf, rightOf } from '../../pages/layout/piece.js';
import type { Pdfium } from '../../pages/pdfium.js';
import { areAlike, type Color } from '../../visibility/colors.js';
import { colorOfItem } from './contrast.js';

/** More shapes of a page are not compared with its texts. */
const MAX_SHAPES = 2_000;
/** A shape that covers less of a word does not hide it. */
const MIN_COVERED = 0.5;

/** A word, or a whole text, that a shape of its own colour may hide. */
export interface CoveredWord {
  /** The text that the word is part of. */
  readonly item: TextItem;
  /** All words of that text. */
  readonly words: readonly TextItem[];
  readonly word: TextItem;
  /** The part of it that the shape covers, unless the shape lies behind other things, or is not filled there. */
  readonly box: Rectangle;
  readonly colour: Color;
}

interface Cover {
  readonly box: Rectangle;
  readonly colour: Color;
}

/** The words of texts that shapes of their own colours may hide, whichever was drawn first. */
export async function findCovered(
  pages: readonly ParsedPage[],
  { pdfium, bytes }: { readonly pdfium: Pick<Pdfium, 'readWords'>; readonly bytes: Uint8Array },
): Promise<ReadonlyMap<ParsedPage, readonly CoveredWord[]>> {
  const touched = new Map<ParsedPage, (readonly [TextItem, readonly Cover[]])[]>();
  for (const page of pages) {
    const covers = coversOf(page);
    const items = page.textItems.flatMap((item) => {
      const upon = covers.filter((cover) => touches(cover, item));
      return upon.length > 0 ? [[item, upon] as const] : [];
    });
    if (items.length > 0) touched.set(page, items);
  }
  if (touched.size === 0) return new Map();
  const numbers = [...touched.keys()].map(({ pageNum }) => pageNum);
  const words = await pdfium.readWords(bytes, numbers).catch(() => undefined);
  return new Map(
    [...touched].map(([page, items]) => {
      const found = new Map((words?.get(page.pageNum) ?? []).map((item) => [keyOf(item), item]));
      return [page, items.flatMap((each) => coveredWords(each, found.get(keyOf(each[0]))))];
    }),
  );
}

function coversOf({ vectorGraphics }: ParsedPage): Cover[] {
  return (vectorGraphics?.shapes ?? [])
    .flatMap(({ fill, fillColor = '', bbox }) => {
      // Other shapes are translucent.
      const colour = fill && fillColor.startsWith('ff') ? colorOfItem(fillColor) : undefined;
      return colour === undefined ? [] : [{ box: bbox, colour }];
    })
    .slice(0, MAX_SHAPES);
}

/** Tells whether a shape of the text's colour covers at least a letter of it. Lines under texts and through them do not. */
function touches({ box, colour }: Cover, item: TextItem): boolean {
  const half = Math.min(item.width, item.height) / 2;
  if (box.width < half || box.height < half) return false;
  const { width, height } = common(box, item);
  const color = colorOfItem(item.fillColor);
  return width >= half && height >= half && color !== undefined && areAlike(colour, color);
}

function coveredWords(
  [item, covers]: readonly [TextItem, readonly Cover[]],
  { words = [] }: Pick<TextItem, 'words'> = {},
): CoveredWord[] {
  const parts = words.length > 1 ? words.map((word): TextItem => ({ ...item, ...word })) : [item];
  return parts.flatMap((word) =>
    covers.flatMap(({ box, colour }) => {
      const covered = common(box, word);
      const isCovered = areaOf(covered) > areaOf(word) * MIN_COVERED;
      return isCovered ? [{ item, words: parts, word, box: covered, colour }] : [];
    }),
  );
}

/** Texts of the same page that was read twice are the same at the same place. */
const keyOf = ({ text, x, y }: TextItem): string => `${String(x)} ${String(y)} ${text}`;

const areaOf = ({ width, height }: Rectangle): number => Math.max(0, width) * Math.max(0, height);

/** Returns the intersection of two rectangles; of a negative width or height when they do not meet. */
function common(one: Rectangle, other: Rectangle): Rectangle {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const width = Math.min(rightOf(one), rightOf(other)) - x;
  const height = Math.min(bottomOf(one), bottomOf(other)) - y;
  return { x, y, width, height };
}
