import { z } from 'zod';
import type { Rectangle } from '../../../blocks/location.js';
import { signsOf } from '../../signs/sign-reader.js';
import type { TextPage } from '../pdfjs/page-text.js';
import { placedTexts } from './placed-texts.js';

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

const fontSchema = z.object({ name: z.string() });

/**
 * Returns the texts of a page that are in symbol fonts, as pdf.js reads them: characters of the font, or of Unicode where
 * it knows them.
 */
export async function signsOfPage(page: SignPage): Promise<PageSign[]> {
  const texts = await placedTexts(page);
  // The names of fonts are known when the operators of a page that uses them were read.
  if (texts.some(({ fontName }) => !page.commonObjs.has(fontName))) await page.getOperatorList();
  const nameOf = createNames(page);
  return texts.flatMap(({ text, fontName, box }) => {
    const font = nameOf(fontName);
    return font === undefined || signsOf(font) === undefined ? [] : [{ text, font, box }];
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
