import { z } from 'zod';
import type { Rectangle } from '../../../blocks/location.js';
import type { TextPage } from '../pdfjs/page-text.js';

/** A text of a page as pdf.js reads it, and where it stands on the page as it is shown. */
export interface PlacedText {
  readonly text: string;
  /** The name by which the page calls its font. */
  readonly fontName: string;
  readonly box: Rectangle;
  /** True if it runs from left to right. */
  readonly isLevel: boolean;
}

const itemSchema = z.object({
  str: z.string(),
  fontName: z.string(),
  transform: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]),
  width: z.number(),
});

/** The texts of a page that are not blank. */
export async function placedTexts(page: TextPage): Promise<PlacedText[]> {
  const { items } = await page.getTextContent({ disableNormalization: true });
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = page.getViewport({ scale: 1 }).transform;
  return items.flatMap((item) => {
    const { data } = itemSchema.safeParse(item);
    if (!data || data.str.trim() === '') return [];
    const { str, fontName, transform, width } = data;
    const [x, y] = [transform[4], transform[5]];
    const height = Math.hypot(transform[2], transform[3]);
    const left = a * x + c * y + e;
    const baseline = b * x + d * y + f;
    const isLevel = Math.abs(b * transform[0] + d * transform[1]) < 0.01 * height && a * transform[0] > 0;
    return [{ text: str, fontName, isLevel, box: { x: left, y: baseline - height, width, height } }];
  });
}

/** The texts with characters beyond U+FFFF. */
export const supplementaryTexts = (texts: readonly PlacedText[]): PlacedText[] =>
  texts.filter(({ text }) => hasSupplementary(text));

/** Tells whether a text has characters beyond U+FFFF. */
export const hasSupplementary = (text: string): boolean => /[\u{10000}-\u{10ffff}]/u.test(text);
