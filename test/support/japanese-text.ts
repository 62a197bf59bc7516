import { FIRST_OBJECT } from './drawn-pdf.js';

export const utf16 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex');

/** Operators that show a text in the font `F9` of these objects, its baseline `y` points above the bottom of the page. */
export const wideLine = (x: number, y: number, text: string, size = 10): string =>
  `BT /F9 ${String(size)} Tf ${String(x)} ${String(y)} Td <${utf16(text)}> Tj ET\n`;

export interface EastAsianFont {
  readonly language: 'Japanese' | 'Korean' | 'Simplified Chinese' | 'Traditional Chinese';
  /** Set from the left (`H`), or in columns from the right (`V`). */
  readonly direction: 'H' | 'V';
}

const FONTS = {
  Japanese: ['HeiseiMin-W3', 'UniJIS', 'Japan1'],
  Korean: ['HYSMyeongJo-Medium', 'UniKS', 'Korea1'],
  'Simplified Chinese': ['STSong-Light', 'UniGB', 'GB1'],
  'Traditional Chinese': ['MSung-Light', 'UniCNS', 'CNS1'],
} as const;

/** The objects of a font of the viewer's system. */
export function eastAsianFont({ language, direction }: EastAsianFont): readonly string[] {
  const [name, encoding, collection] = FONTS[language];
  return [
    `<</Type/Font/Subtype/Type0/BaseFont/${name}/Encoding/${encoding}-UCS2-${direction}/DescendantFonts[${String(FIRST_OBJECT + 1)} 0 R]>>`,
    `<</Type/Font/Subtype/CIDFontType0/BaseFont/${name}/CIDSystemInfo<</Registry(Adobe)/Ordering(${collection})/Supplement 1>>/FontDescriptor ${String(FIRST_OBJECT + 2)} 0 R>>`,
    `<</Type/FontDescriptor/FontName/${name}/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 709/Descent -241/CapHeight 709/StemV 69>>`,
  ];
}

export const koreanFont = eastAsianFont({ language: 'Korean', direction: 'H' });

export const japaneseFont = (direction: 'H' | 'V'): readonly string[] =>
  eastAsianFont({ language: 'Japanese', direction });
