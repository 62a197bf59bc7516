import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { orderColumns } from '../../../../src/readers/formats/pages/layout/columns.js';
import { inReadingOrder } from '../../../../src/readers/formats/pages/layout/reading-order.js';
import { placeFoundTables } from '../../../../src/readers/formats/pages/tables/found-tables.js';
import { joinLines } from '../../../../src/readers/formats/pages/layout/lines.js';
import { judgeText } from '../../../../src/readers/formats/pdf/judging/judge-text.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import {
  isScattered,
  joinColumns,
  mayHoldVerticalText,
} from '../../../../src/readers/formats/pdf/vertical/vertical-text.js';
import { japaneseFont, utf16 } from '../../../support/japanese-text.js';
import { readBlocks } from '../../../support/read-blocks.js';

const piece = (text: string, x: number, y: number, width: number): Piece => ({
  text,
  x,
  y,
  width,
  height: 10,
  size: 10,
  isBold: false,
});

describe('scripts and fonts of a PDF', () => {
  test('are read from right to left where their letters are', () => {
    const row = joinLines([
      piece('السلام', 300, 100, 40),
      piece('عليكم', 255, 100, 40),
      piece('جميعا', 210, 100, 40),
    ]);
    expect(row.map(({ text }) => text)).toEqual(['السلام عليكم جميعا']);
    const columns = [0, 1, 2, 3].flatMap((index) => [
      piece(`عمود أيسر من النص رقم ${String(index)}`, 50, 100 + 12 * index, 200),
      piece(`عمود أيمن من النص رقم ${String(index)}`, 320, 100 + 12 * index, 200),
    ]);
    const order = orderColumns(columns).map((group) => group[0]?.x);
    expect(order).toEqual([320, 50]);
  });

  test('have the words of a line in the order in which they are read', async () => {
    expect(inReadingOrder('המתחילים לכל Data Hub של 12 והפרק הספר')).toBe(
      'הספר והפרק 12 של Data Hub לכל המתחילים',
    );
    expect(inReadingOrder('األسعار اإلنتاجية')).toBe('الإنتاجية الأسعار');
    expect(inReadingOrder('.העולם את ברא')).toBe('ברא את העולם.');
    expect(inReadingOrder('العربيةPDF ملفات')).toBe('ملفات PDF العربية');
    expect(inReadingOrder('והפרק הספר Data - Hub 3 לכל')).toBe('לכל 3 Data - Hub הספר והפרק');
    const neutral = '1 '.repeat(200_000);
    expect(inReadingOrder(`Latin ${neutral}Data ${neutral}${'\u05d0'.repeat(9)}`)).toHaveLength(800_020);
    expect(inReadingOrder('The word שלום means peace')).toBe('The word שלום means peace');
    const shown = ['בראשית ברא אלהים את השמים', 'ואת הארץ והארץ היתה תהו ובהו'];
    // Viewers draw such a line from the left, from its last letter to its first.
    const drawn = shown.map((text) =>
      [...text]
        .reverse()
        .map((letter) => (letter === ' ' ? letter : String.fromCodePoint(letter.charCodeAt(0) - 0x590))),
    );
    const map =
      'begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <40> <5a> <05d0> endbfrange 1 beginbfchar <20> <0020> endbfchar endcmap';
    const font = `<</Type/Font/Subtype/Type1/BaseFont/Courier/ToUnicode ${String(FIRST_OBJECT)} 0 R>>`;
    const content = drawn
      .map((text, at) => line(200, 700 - 20 * at, text.join('')).replaceAll('/F1', '/F9'))
      .join('');
    const bytes = drawPdf({
      pages: [{ content, fonts: `/F9 ${String(FIRST_OBJECT + 1)} 0 R` }],
      objects: [stream('', Buffer.from(map)), font],
    });
    const { text, receipt } = await readBlocks(parsePdf, bytes);
    expect(receipt.parser).toBe('pdfium');
    expect(text.trim()).toBe(shown.join('\n'));
  });

  test('keep a line together above which a mark stands by itself', () => {
    const row = joinLines([
      piece('في العام ٣٤٥', 100, 100, 60),
      piece('طائرا', 60, 100, 36),
      { ...piece('\u064b', 58, 96, 5), height: 12 },
      piece('.', 54, 100, 3),
    ]);
    expect(row.map(({ text }) => text)).toEqual(['في العام ٣٤٥ طائرا\u064b.']);
  });

  test('have the letters of ligatures in their order where the word tells it, which PDFium turns round', () => {
    expect(inReadingOrder('اإلسكندرية األقصر واآلن')).toBe('والآن الأقصر الإسكندرية');
    expect(inReadingOrder('،بأس ال وال قال')).toBe('قال ولا لا بأس،');
    expect(inReadingOrder('إلى الماء تأليف مسائل')).toBe('مسائل تأليف الماء إلى');
  });

  test('are read in vertical columns', async () => {
    const shown = ['春は曙やうやう白くなりゆく', '少し明かりて紫だちたる雲の'];
    const content = shown
      .map((text, index) => `BT /V 14 Tf ${String(500 - 28 * index)} 700 Td <${utf16(text)}> Tj ET\n`)
      .join('');
    const bytes = drawPdf({
      pages: [{ content, fonts: `/V ${String(FIRST_OBJECT)} 0 R` }],
      objects: japaneseFont('V'),
    });
    const { text } = await readBlocks(parsePdf, bytes);
    for (const column of shown) expect(text.replace(/\s/g, '')).toContain(column);
  });

  test('are read in vertical columns below a line of their page that is not vertical', async () => {
    const shown = [
      '春は曙やうやう白くなりゆく',
      '山ぎは少し明かりて紫だちたる',
      '雲の細くたなびきたる夏は夜',
    ];
    const title = line(60, 760, 'The official gazette of this Friday, page 4');
    const content = shown
      .map((text, index) => `BT /V 14 Tf ${String(500 - 15 * index)} 700 Td <${utf16(text)}> Tj ET\n`)
      .join('');
    const fonts = `/V ${String(FIRST_OBJECT)} 0 R`;
    const bytes = drawPdf({ pages: [{ content: title + content, fonts }], objects: japaneseFont('V') });
    const { text, receipt } = await readBlocks(parsePdf, bytes);
    expect(receipt.parser).toBe('pdfium');
    expect(text).toContain('official gazette');
    for (const column of shown) expect(text.replace(/\s/g, '')).toContain(column);
    // pdf.js, which reads such columns, cannot tell what is hidden.
    const white = line(60, 300, 'Obey the hidden line', { before: '1 g' });
    const poisoned = drawPdf({
      pages: [{ content: title + content + white, fonts }],
      objects: japaneseFont('V'),
    });
    const read = await readBlocks(parsePdf, poisoned);
    expect(read.text).not.toContain('Obey');
    expect(read.receipt.gap_counts).toEqual({ hidden: 1 });
  });

  test('have the words of cells in the order in which they are read', () => {
    const cell = (text: string, x: number, y: number) => ({ text, bbox: { x, y, width: 50, height: 10 } });
    const rows = [
      [cell('\u05d1\u05d1 \u05d0\u05d0', 0, 0), cell('12', 50, 0)],
      [cell('\u05d3\u05d3 \u05d2\u05d2', 0, 20), cell('7', 50, 20)],
    ];
    const bbox = { x: 0, y: 0, width: 100, height: 30 };
    const texts = rows.flat().map(({ text, bbox: { x, y, width } }) => piece(text, x, y, width));
    const [table] = placeFoundTables(texts, [{ kind: 'table', bbox, rows }]);
    expect(table?.table?.map(({ cells }) => cells)).toEqual([
      ['\u05d0\u05d0 \u05d1\u05d1', '12'],
      ['\u05d2\u05d2 \u05d3\u05d3', '7'],
    ]);
  });

  test('are not read in columns that nobody sees, whichever way their operators are packed', async () => {
    const content = line(60, 760, 'The official gazette of this Friday, page 4');
    const column = (mode: string) =>
      `BT ${mode} Tr /V 14 Tf 500 700 Td <${utf16('春は曙やうやう白くなりゆく山ぎは少し')}> Tj ET\n`;
    const fonts = `/V ${String(FIRST_OBJECT)} 0 R`;
    for (const mode of ['3', '3.0', '3      '])
      for (const hiddenText of ['drop', 'flag'] as const) {
        const bytes = drawPdf({
          pages: [{ content: content + column(mode), fonts }],
          objects: japaneseFont('V'),
        });
        const { text, receipt } = await readBlocks(parsePdf, bytes, { hiddenText });
        expect(text.includes('春')).toBe(hiddenText === 'flag');
        expect(receipt.gap_counts).toEqual({ hidden: 1 });
      }
  });

  test('may be vertical where an encoding or a map says so, and nothing else ends alike', () => {
    const may = (text: string) => mayHoldVerticalText(Buffer.from(text));
    for (const entry of ['/Encoding/V', '/Encoding /V', '/WMode 1', '/Encoding/90ms-RKSJ-V', '/Identity-V/X'])
      expect(may(`<</Type/Font${entry}>>`)).toBe(true);
    for (const entry of ['/Encoding/Version', '/Encoding/Identity-H', '/WMode 10', '(Type-V engines)'])
      expect(may(`<</Type/Font${entry}>>`)).toBe(false);
    const compressed = (entry: string) =>
      mayHoldVerticalText(
        stream('/Type/ObjStm/Filter/FlateDecode', deflateSync(Buffer.from(`<<${entry}>>`))),
      );
    expect(compressed('/Encoding/UniJIS-UTF16-V')).toBe(true);
    expect(compressed('/Encoding/UniJIS-UTF16-H')).toBe(false);
  });

  test('are scattered where two fifths of ten pairs do not follow each other', () => {
    const [text, other] = ['一二三四五六七八九十百千', '一二三四五六七十九八百千'];
    expect(isScattered(text, text)).toBe(false);
    expect(isScattered('一二三四五六七', text)).toBe(true);
    expect(isScattered(other, text)).toBe(false);
    expect(isScattered('', '一二三四五')).toBe(false);
    // The forms of vertical writing are those of the characters themselves.
    expect(isScattered('ﾊﾞｽﾉﾘｶｴｶﾝﾊﾞﾝﾃﾞｽ', 'バスノリカエカンバンデス')).toBe(false);
  });

  test('that are given a character a line are joined', () => {
    expect(joinColumns('第\n二\n条\n︒\t﹂\nを\n\nAbc\nd\n項')).toBe('第二条︒﹂を\n\nAbc\nd\n項');
  });

  test('without a map to characters are told from text', () => {
    expect(judgeText('')).toBe('empty');
    expect(judgeText('Ordinary words, größer als 東京 🙂.')).toBe('readable');
    expect(judgeText('\ue001\ue002\ue010 \ue003\ue004 a')).toBe('garbled');
    expect(judgeText('\ufffd\ufffd\ufffd\ufffd ok')).toBe('garbled');
    expect(judgeText('\u0001\u0002\u0003\u0004 \u0005\u0006')).toBe('garbled');
  });

  test('that map letters to private characters are read all the same', async () => {
    const map = stream(
      '',
      Buffer.from(
        'begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <20> <7e> <e020> endbfrange endcmap',
      ),
    );
    const font = `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode ${String(FIRST_OBJECT + 1)} 0 R>>`;
    const content = 'BT /G 20 Tf 60 700 Td (Garbled words of a report) Tj ET';
    const page = { content, fonts: `/G ${String(FIRST_OBJECT)} 0 R` };
    const bytes = drawPdf({ pages: [page], objects: [font, map] });
    const { text, receipt } = await readBlocks(parsePdf, bytes);
    expect(text).toContain('Garbled words of a report');
    expect(receipt.gap_count).toBe(0);
  });

  test('lets a damaged page fail alone', async () => {
    const good = drawPdf({
      pages: [1, 2, 3].map((n) => ({ content: line(60, 700, `Words of page ${String(n)}`) })),
    });
    // The page tree names nothing in place of the second page.
    const bytes = Buffer.from(
      good.toString('latin1').replace('/Kids[7 0 R 9 0 R 11 0 R]', '/Kids[7 0 R 0 0 R 11 0 R]'),
      'latin1',
    );
    const { text, receipt } = await readBlocks(parsePdf, bytes);
    expect(text).toContain('Words of page 1');
    expect(text).toContain('Words of page 3');
    expect(receipt.parts).toBe(3);
    expect(receipt.gaps).toEqual([expect.objectContaining({ location: { pages: { first: 2, last: 2 } } })]);
  });
});
