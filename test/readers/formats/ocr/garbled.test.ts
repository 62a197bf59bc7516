import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, lines, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { errorRate, flat, PROSE } from '../../../support/scans.js';

/** A PDF that shows the prose in a font whose map says that each letter is another character. */
function misleading(characterOf: (code: number) => number): Buffer {
  const rows = Array.from({ length: 95 }, (_, index) => {
    const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
    return `<${hex(index + 32, 2)}> <${hex(characterOf(index + 32), 4)}>`;
  });
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange
${String(rows.length)} beginbfchar
${rows.join('\n')}
endbfchar endcmap CMapName currentdict /CMap defineresource pop end end`;
  const font = `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode ${String(FIRST_OBJECT)} 0 R>>`;
  const content = lines(60, 700, PROSE, { size: 12, leading: 18 }).replaceAll('/F1', '/F9');
  return drawPdf({
    pages: [{ content, fonts: `/F9 ${String(FIRST_OBJECT + 1)} 0 R` }],
    objects: [stream('', Buffer.from(map)), font],
  });
}

describe('a page whose font lies about its characters', () => {
  const isLetter = (code: number) => /[a-z]/i.test(String.fromCharCode(code));
  test.each([
    ['replacement characters', (code: number) => (code === 32 ? 32 : 0xfffd)],
    ['signs', (code: number) => (isLetter(code) ? 33 + (code % 14) : code)],
  ])('is recognized in its picture: %s', async (_, characterOf) => {
    const { text, receipt } = await readBlocks(parsePdf, misleading(characterOf));
    expect(errorRate(PROSE.join(' '), flat(text))).toBeLessThan(0.02);
    expect(receipt).toMatchObject({ ocr: { pages: 1 }, gap_count: 0 });
    const off = await readBlocks(parsePdf, misleading(characterOf), { ocr: 'off' });
    expect(off.receipt).toMatchObject({ ocr: { pages: 0 }, gap_counts: { garbled: 1 } });
  });

  test.each([
    ['private use', (code: number) => 0xe000 + code],
    ['control characters', (code: number) => (code === 32 ? 32 : (code % 7) + 1)],
  ])('is read by its encoding where that tells more: %s', async (_, characterOf) => {
    const { text, receipt } = await readBlocks(parsePdf, misleading(characterOf));
    expect(flat(text)).toBe(PROSE.join(' '));
    expect(receipt).toMatchObject({ ocr: { pages: 0 }, gap_count: 0 });
  });

  test('is read as its map says when that gives other letters, and as it looks only by force', async () => {
    const pdf = misleading((code) => (isLetter(code) ? ((code * 7) % 26) + 97 : code));
    expect((await readBlocks(parsePdf, pdf)).receipt.ocr.pages).toBe(0);
    const { text, receipt } = await readBlocks(parsePdf, pdf, { ocr: 'force' });
    expect(errorRate(PROSE.join(' '), flat(text))).toBeLessThan(0.02);
    expect(receipt).toMatchObject({ ocr: { pages: 1 }, gap_count: 0 });
  });

  test('is not suspected for lines of dots, and tables of numbers', async () => {
    const contents = Array.from({ length: 25 }, (_, page) => `${'. '.repeat(40)}${String(page)}`);
    const sums = Array.from({ length: 25 }, (_, row) => `${String(row)}.5 | -${String(row)}.7 | +3%`);
    for (const texts of [contents, sums]) {
      const pdf = drawPdf({ pages: [{ content: lines(60, 700, texts) }] });
      expect((await readBlocks(parsePdf, pdf)).receipt).toMatchObject({ ocr: { pages: 0 }, gap_count: 0 });
    }
  });

  test('is not suspected for an honest map', async () => {
    const { text, receipt } = await readBlocks(
      parsePdf,
      misleading((code) => code),
    );
    expect(flat(text)).toBe(PROSE.join(' '));
    expect(receipt.ocr.pages).toBe(0);
  });
});
