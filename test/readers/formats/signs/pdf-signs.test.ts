import { existsSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { createSignFinder } from '../../../../src/readers/formats/pdf/marks/symbol-fonts.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { createWorkBudgets } from '../../../../src/readers/formats/pdf/work-budgets.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** PDFium gives no text for a sign that is drawn alone in a font which neither the file nor the machine has. */
const SYMBOL_FONTS = [
  '/usr/share/fonts/truetype/libreoffice/opens___.ttf',
  '/usr/share/fonts/truetype/openoffice/opens___.ttf',
];
const hasSymbols = SYMBOL_FONTS.some((path) => existsSync(path));
if (!hasSymbols)
  process.stderr.write(
    'tests of signs in fonts that are not in the file are skipped: this machine has no font for them (fonts-opensymbol)\n',
  );
const signTest = hasSymbols ? test : test.skip;

const show = (font: string, y: number, hex: string, x = 40): string =>
  `BT /${font} 10 Tf ${String(x)} ${String(y)} Td <${hex}> Tj ET\n`;
const map = (code: string, unicode: string): Buffer =>
  stream(
    '',
    Buffer.from(
      `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <${code}> <${unicode}> endbfchar endcmap end end`,
    ),
  );
const font = (name: string, more = ''): string => `<</Type/Font/Subtype/TrueType/BaseFont/${name}${more}>>`;

describe('signs of a PDF file', () => {
  signTest(
    'in symbol fonts are what they show, without a map or with one to the private use area',
    async () => {
      const objects = [
        font('ABCDEF+Wingdings-Regular', '/Encoding/WinAnsiEncoding'),
        font('BCDEFG+Wingdings', `/ToUnicode ${String(FIRST_OBJECT + 2)} 0 R`),
        map('A8', 'F0A8'),
        font('CDEFGH+SymbolMT'),
        font('Webdings'),
      ];
      const content =
        show('A', 700, 'fe') +
        line(54, 700, 'Accepted') +
        show('B', 680, 'a8') +
        line(54, 680, 'Rejected') +
        line(40, 660, 'Tolerance') +
        show('C', 660, 'b1', 92) +
        line(104, 660, '5 mm') +
        show('D', 640, '61') +
        line(54, 640, 'Sent');
      const fonts = ['A', 'B', 'C', 'D'].map(
        (name, index) => `/${name} ${String(FIRST_OBJECT + ([0, 1, 3, 4][index] ?? 0))} 0 R`,
      );
      const { text, gaps } = await readBlocks(
        parsePdf,
        drawPdf({ pages: [{ content, fonts: fonts.join('') }], objects }),
      );
      expect(text.trim().split(/\n+/)).toEqual(['☑ Accepted', '☐ Rejected', 'Tolerance ± 5 mm', '✔ Sent']);
      expect(gaps).toEqual([]);
    },
  );

  test('before the items of a list are their bullets', async () => {
    const content = [700, 680].map((y) => show('A', y, 'b7') + line(58, y, 'An item')).join('');
    const { text } = await readBlocks(
      parsePdf,
      drawPdf({ pages: [{ content, fonts: '/A 7 0 R' }], objects: [font('ABCDEF+SymbolMT')] }),
    );
    expect(text.trim().split(/\n+/)).toEqual(['• An item', '• An item']);
  });

  signTest(
    'before the items of a list are their bullets where another font has them as private characters',
    async () => {
      const objects = [
        font('ABCDEF+OpenSymbol', `/ToUnicode ${String(FIRST_OBJECT + 4)} 0 R`),
        font('BCDEFG+OpenSymbol', `/ToUnicode ${String(FIRST_OBJECT + 5)} 0 R`),
        font('CDEFGH+OpenSymbol', `/ToUnicode ${String(FIRST_OBJECT + 6)} 0 R`),
        font('DEFGHI+OpenSymbol', `/ToUnicode ${String(FIRST_OBJECT + 7)} 0 R`),
        ...['F0B7', 'F0A7', 'E00C', 'F0FC'].map((sign) => map('01', sign)),
      ];
      const names = ['A', 'B', 'C', 'D'];
      const fonts = names.map((name, index) => `/${name} ${String(FIRST_OBJECT + index)} 0 R`).join('');
      const items = names.map(
        (name, index) =>
          show(name, 700 - 20 * index, '01') + line(58, 700 - 20 * index, 'An item of the list'),
      );
      const content =
        items.join('') + line(40, 600, 'This way') + show('A', 600, '01', 84) + line(96, 600, 'out');
      const { text, gaps } = await readBlocks(parsePdf, drawPdf({ pages: [{ content, fonts }], objects }));
      const signs = ['•', '▪', '•', '✓'];
      const rows = [...signs.map((sign) => `${sign} An item of the list`), 'This way out'];
      expect(text.trim().split(/\n+/)).toEqual(rows);
      // Inside of a text it may be that of any symbol font.
      expect(gaps).toEqual(['garbled: 1 sign of a symbol font whose meaning is not known was left out.']);
    },
  );

  test('that nobody knows are named', async () => {
    const content = show('A', 700, '61') + line(80, 700, 'Close');
    const { text, gaps } = await readBlocks(
      parsePdf,
      drawPdf({ pages: [{ content, fonts: '/A 7 0 R' }], objects: [font('ABCDEF+Marlett')] }),
    );
    expect(text.trim()).toBe('Close');
    expect(gaps).toEqual(['garbled: 1 sign of a symbol font whose meaning is not known was left out.']);
  });
});

describe('signs that the second reader cannot tell', () => {
  const item = (text: string, more: Partial<TextItem> = {}): TextItem => ({
    text,
    x: 0,
    y: 0,
    width: 50,
    height: 10,
    ...more,
  });
  const page = (textItems: TextItem[]): ParsedPage => ({
    pageNum: 1,
    width: 600,
    height: 800,
    text: '',
    markdown: '',
    textItems,
  });

  test('are read at the beginning of a text, as far as its font reaches', async () => {
    const finder = createSignFinder({
      bytes: Buffer.from('%PDF'),
      second: { signs: () => Promise.resolve(undefined), object: () => Promise.resolve(undefined) },
      objects: { mayUse: () => false },
      receipt: createReceiptWriter(),
      budget: createWorkBudgets().signs,
    });
    const items = [
      item('þ Accepted', { fontName: 'ABCDEF+Wingdings', charCodes: [0xfe, 0] }),
      item('Jay', { fontName: 'Helvetica', charCodes: [74, 97, 121] }),
    ];
    const [found] = await finder.find([page(items)], new Map());
    expect(found?.textItems.map(({ text }) => text)).toEqual(['☑ Accepted', 'Jay']);
  });
});
