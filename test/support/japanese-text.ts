import { FIRST_OBJECT } from './drawn-pdf.js';

export const utf16 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex');

/** Operators that show a text in the font `F9` of these objects, its baseline `y` points above the bottom of the page. */
export const wideLine = (x: number, y: number, text: string, size = 10): string =>
  `BT /F9 ${String(size)} Tf ${String(x)} ${String(y)} Td <${utf16(text)}> Tj ET\n`;

/** The objects of a font of the viewer's system for Korean. */
export const koreanFont: readonly string[] = [
  `<</Type/Font/Subtype/Type0/BaseFont/HYSMyeongJo-Medium/Encoding/UniKS-UCS2-H/DescendantFonts[${String(FIRST_OBJECT + 1)} 0 R]>>`,
  `<</Type/Font/Subtype/CIDFontType0/BaseFont/HYSMyeongJo-Medium/CIDSystemInfo<</Registry(Adobe)/Ordering(Korea1)/Supplement 1>>/FontDescriptor ${String(FIRST_OBJECT + 2)} 0 R>>`,
  '<</Type/FontDescriptor/FontName/HYSMyeongJo-Medium/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 709/Descent -241/CapHeight 709/StemV 69>>',
];

/** The objects of a font of the viewer's system for Japanese, set from the left (`H`) or in columns from the right (`V`). */
export const japaneseFont = (direction: 'H' | 'V'): readonly string[] => [
  `<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/UniJIS-UCS2-${direction}/DescendantFonts[${String(FIRST_OBJECT + 1)} 0 R]>>`,
  `<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor ${String(FIRST_OBJECT + 2)} 0 R>>`,
  '<</Type/FontDescriptor/FontName/HeiseiMin-W3/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 709/Descent -241/CapHeight 709/StemV 69>>',
];
