import { describe, expect, test } from '@jest/globals';
import { unicodeFonts, withCodes } from '../../../../src/readers/formats/pdf/judging/unicode-fonts.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line } from '../../../support/drawn-pdf.js';
import { japaneseFont, koreanFont, wideLine } from '../../../support/japanese-text.js';
import { readBlocks } from '../../../support/read-blocks.js';

const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const draw = (content: string, objects: readonly string[]): Buffer =>
  drawPdf({ pages: [{ content, fonts: `/F9 ${String(FIRST_OBJECT)} 0 R` }], objects });

describe('Fonts of a PDF whose codes are those of Unicode, and which are not in it', () => {
  test('have the letters and digits of ASCII that the file says, in texts and in tables', async () => {
    const rules = [600, 580, 560].map((y) => `72 ${String(y)} m 372 ${String(y)} l S\n`).join('');
    const bars = [72, 222, 372].map((x) => `${String(x)} 560 m ${String(x)} 600 l S\n`).join('');
    const cells = [
      wideLine(76, 586, 'Office'),
      wideLine(226, 586, 'Fax number'),
      wideLine(76, 566, 'Tokyo'),
      wideLine(226, 566, '03-1234-5679'),
    ];
    const texts = ['Title of the page', '03-1234-5678 / 0120-999', CAPITALS, CAPITALS.toLowerCase()];
    const shown = texts.map((text, at) => wideLine(72, 740 - 20 * at, text)).join('');
    const content = shown + line(72, 640, 'Plain 02 fig page') + rules + bars + cells.join('');
    for (const font of [japaneseFont('H'), koreanFont]) {
      const { text } = await readBlocks(parsePdf, draw(content, font));
      for (const each of texts) expect(text.replace(/\s/g, '')).toContain(each.replace(/\s/g, ''));
      expect(text).toContain('Plain 02 fig page');
      expect(text).toContain('| Office | Fax number |\n| --- | --- |\n| Tokyo | 03-1234-5679 |');
    }
  });

  test('are known by their encodings, wherever these stand in their dictionaries, and have no map of their own', () => {
    const fontsOf = (...objects: string[]) => [...unicodeFonts(draw('', objects))];
    expect(fontsOf(...japaneseFont('H'))).toEqual(['HeiseiMin-W3']);
    expect(
      fontsOf(
        '<</BaseFont/STSong-Light/DescendantFonts[<</BaseFont/STSong-Light/W[1[207]]>>]/Encoding /UniGB-UCS2-H /Type/Font>>',
      ),
    ).toEqual(['STSong-Light']);
    expect(fontsOf('<</Encoding/UniKS-UTF16-H/BaseFont/Batang-UniKS-UTF16-H/Type/Font>>')).toEqual([
      'Batang-UniKS-UTF16-H',
      'Batang',
    ]);
    expect(fontsOf('<</BaseFont/A/Encoding/UniGB-UCS2-H/ToUnicode 9 0 R>>')).toEqual([]);
    expect(fontsOf('<</BaseFont/A/Encoding/Identity-H>>')).toEqual([]);
  });

  test('leave a text alone whose codes are not those of its characters', () => {
    const fonts = new Set(['A']);
    const item = { x: 0, y: 0, width: 30, height: 10, rotation: 0, fontName: 'A' };
    const textOf = (text: string, charCodes: number[]) =>
      withCodes({ ...EMPTY, textItems: [{ ...item, text, charCodes }] }, fonts).textItems[0]?.text;
    expect(textOf('1-5', [0x31, 0x32, 0x39])).toBe('129');
    expect(textOf('語-', [0x8a9e, 0x32])).toBe('語2');
    expect(textOf('語-', [0x1234, 0x32])).toBe('語-');
    expect(textOf('語-', [0x32])).toBe('語-');
  });
});

const EMPTY = { pageNum: 1, width: 100, height: 100, text: '', markdown: '', textItems: [] };
