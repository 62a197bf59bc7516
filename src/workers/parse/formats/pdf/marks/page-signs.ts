import { z } from 'zod';
import type { Rectangle } from '../../../../../shared/extraction/location.js';
import { signsOf } from '../../signs/sign-reader.js';
import type { TextPage } from '../shifted/shifted-on-page.js';

/** A text of a page that is in a symbol font, and where it stands. */
export interface PageSign {
  readonly text: string;
  readonly font: string;
  readonly box: Rectangle;
}

/** A page of pdf.js, which tells the fonts of its texts. */
export interface SignPage extends TextPage {
  getOperatorList(): Promise<unknown>;
  readonly commonObjs: { has(name: string): boolean; get(name: string): unknown };
}

const itemSchema = z.object({
  str: z.string(),
  fontName: z.string(),
  transform: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]),
  width: z.number(),
});
const fontSchema = z.object({ name: z.string() });

/** The texts of a page that are in symbol fonts, as pdf.js reads them: characters of the font, or what it knows them to be. */
export async function signsOfPage(page: SignPage): Promise<PageSign[]> {
  const { items } = await page.getTextContent({ disableNormalization: true });
  const texts = items.flatMap((item) => {
    const { data } = itemSchema.safeParse(item);
    return data && data.str.trim() !== '' ? [data] : [];
  });
  // The names of fonts are known when the operators of a page that uses them were read.
  if (texts.some(({ fontName }) => !page.commonObjs.has(fontName))) await page.getOperatorList();
  const nameOf = createNames(page);
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = page.getViewport({ scale: 1 }).transform;
  return texts.flatMap(({ str, fontName, transform, width }) => {
    const font = nameOf(fontName);
    if (font === undefined || signsOf(font) === undefined) return [];
    const [x, y] = [transform[4], transform[5]];
    const height = Math.hypot(transform[2], transform[3]);
    const left = a * x + c * y + e;
    const baseline = b * x + d * y + f;
    return [{ text: str, font, box: { x: left, y: baseline - height, width, height } }];
  });
}

function createNames({ commonObjs }: SignPage): (font: string) => string | undefined {
  const names = new Map<string, string | undefined>();
  return (font) => {
    if (!names.has(font))
      names.set(
        font,
        commonObjs.has(font) ? fontSchema.safeParse(commonObjs.get(font)).data?.name : undefined,
      );
    return names.get(font);
  };
}
