import type { TextContentItem, TextPage } from '../pdfjs/page-text.js';
import { timesMatrix } from '../shifted/shifted-on-page.js';

/** A text of a page as it may stand in a column that runs from top to bottom: places in points from the top left of the page. */
export interface ColumnPart {
  readonly text: string;
  /** The middle of the column. */
  readonly middle: number;
  readonly top: number;
  readonly bottom: number;
  readonly size: number;
  /** True if its font is one for vertical text, which says so by itself. */
  readonly isVertical: boolean;
}

/** Texts of two digits or letters stand side by side in a column. */
const MAX_SIDE_BY_SIDE = 4;
const MAX_WIDTH_SIDE_BY_SIDE = 1.5;
/** The height of a character's top above its baseline, in sizes of its font, and of its middle when it lies on its side. */
const ASCENT = 0.88;
const MIDDLE = 0.38;

/**
 * Returns the texts of a page in the order in which they are drawn, and undefined in place of texts that no column can
 * hold.
 */
export async function columnPartsOn(page: TextPage): Promise<readonly (ColumnPart | undefined)[]> {
  const { items, styles = {} } = await page.getTextContent({ disableNormalization: true });
  const shown = page.getViewport({ scale: 1 }).transform;
  return items
    .filter(({ str = '' }) => str.trim() !== '')
    .map((item) => partOf(item, { shown, isVertical: styles[item.fontName ?? '']?.vertical === true }));
}

function partOf(
  { str = '', transform = [], width = 0, height = 0 }: TextContentItem,
  { shown, isVertical }: { readonly shown: readonly number[]; readonly isVertical: boolean },
): ColumnPart | undefined {
  const [a, b, c, d, x, y] = timesMatrix(transform, shown);
  const text = str.trim();
  if (isTiny(b, a) && isTiny(c, d) && a > 0 && d < 0) {
    const size = -d;
    if (isVertical) return { text, middle: x, top: y, bottom: y + height, size, isVertical };
    if ([...text].length > MAX_SIDE_BY_SIDE || width > MAX_WIDTH_SIDE_BY_SIDE * size) return undefined;
    const top = y - ASCENT * size;
    return { text, middle: x + width / 2, top, bottom: top + size, size, isVertical };
  }
  // Latin letters lie on their side, with their baseline at the left.
  if (isTiny(a, b) && isTiny(d, c) && b > 0 && c > 0)
    return { text, middle: x + MIDDLE * c, top: y, bottom: y + width, size: c, isVertical: false };
  return undefined;
}

const isTiny = (value: number, beside: number): boolean => Math.abs(value) < 0.01 * Math.abs(beside);
