import { describe, expect, test } from '@jest/globals';
import { parsePicture } from '../../../../src/readers/formats/ocr/picture.js';
import { createRecognizer } from '../../../../src/readers/formats/ocr/recognizer.js';
import { loadPdfium, type Pdfium } from '../../../../src/readers/formats/pages/pdfium.js';
import { DEFAULT_READ_OPTIONS } from '../../../../src/readers/read-options.js';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { readNative } from '../../../../src/readers/formats/pdf/read-native.js';
import type { Parser } from '../../../../src/readers/parser.js';
import { drawPdf, line, lines } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { errorRate, flat, PROSE, scan, scanLines, toPdf } from '../../../support/scans.js';

describe('text recognition', () => {
  test.each([150, 300])('reads a scan of %d dots to the inch', async (dpi) => {
    const { pdf } = await scan(dpi);
    const { text, blocks, receipt } = await readBlocks(parsePdf, pdf);
    const rate = errorRate(PROSE.join(' '), flat(text));
    process.stdout.write(`character error rate at ${String(dpi)} dpi: ${rate.toFixed(4)}\n`);
    expect(rate).toBeLessThan(0.02);
    expect(receipt).toMatchObject({ ocr: { pages: 1 }, parts_read: 1, gap_count: 0 });
    expect(receipt.ocr.confidence).toBeGreaterThan(0.8);
    const box = blocks[0]?.place?.boxes?.[0];
    expect(box?.x).toBeCloseTo(60, -1);
    expect(box?.y).toBeCloseTo(82, -1);
  });

  test('is off on wish, and the gap says so', async () => {
    const { pdf } = await scan(100);
    const { text, receipt } = await readBlocks(parsePdf, pdf, { ocr: 'off' });
    expect(text.trim()).toBe('');
    expect(receipt).toMatchObject({ ocr: { pages: 0 }, gap_counts: { skipped: 1 } });
  });

  test('names a language without data, and reads with those that are there', async () => {
    const { pdf } = await scan(150);
    const { text, receipt } = await readBlocks(parsePdf, pdf, { ocrLanguages: ['xyz', '../eng', 'eng'] });
    expect(flat(text)).toContain('paedomorphic salamander');
    expect(receipt.gaps.map(({ detail }) => detail).join()).toContain('@tesseract.js-data/xyz');
    expect(receipt.gap_counts).toEqual({ skipped: 2 });
  });

  test('tells of each page that it needs data, without which nobody knows whether it is empty', async () => {
    const { pdf } = await scan(100);
    const { receipt } = await readBlocks(parsePdf, pdf, { ocrLanguages: ['xyz'] });
    expect(receipt.gap_counts).toEqual({ skipped: 2 });
    expect(receipt.gaps[1]).toEqual({
      reason: 'skipped',
      detail: 'Text recognition of this page has no data of any language.',
      location: { pages: { first: 1, last: 1 } },
    });
  });

  test('is made of an empty page also where PDFium cannot tell what pictures it has', async () => {
    const pdfium = await loadPdfium();
    if (!pdfium) throw new Error('no PDFium here');
    const unsure = { ...pdfium, readCoverage: () => Promise.reject(new Error('the page is damaged')) };
    const { pdf } = await scan(100);
    const read: Parser = (bytes, context) => readNative(unsure, bytes, context);
    expect((await readBlocks(read, pdf)).receipt.ocr.pages).toBe(1);
  });

  test('looks at large pages with fewer dots to the inch', async () => {
    const pdfium = await loadPdfium();
    if (!pdfium) throw new Error('no PDFium here');
    const asked: number[] = [];
    const render: Pdfium['render'] = (_bytes, _pages, dpi) => {
      asked.push(dpi);
      return Promise.reject(new Error('not needed'));
    };
    const read: Parser = (bytes, context) => readNative({ ...pdfium, render }, bytes, context);
    for (const side of [600, 7_200]) {
      const pdf = drawPdf({ pages: [{ content: line(60, 100, 'Words'), width: side, height: side }] });
      await readBlocks(read, pdf, { ocr: 'force' });
    }
    // 12 million pixels are 3,464 on each side of a square, which has 100 inches here.
    expect(asked).toEqual([200, 34]);
  });

  test('is spared where a scan has a layer of invisible text', async () => {
    const { pdf } = await scan(100, {
      layer: lines(60, 700, PROSE, { size: 12, leading: 18, before: '3 Tr' }),
    });
    const { text, receipt } = await readBlocks(parsePdf, pdf);
    expect(flat(text)).toBe(PROSE.join(' '));
    expect(receipt).toMatchObject({ ocr: { pages: 0 }, gap_count: 0 });
  });

  test('says that it guessed where a page is in a script without data', async () => {
    const { width, height, grey } = await scanLines(150);
    // Strokes that are no letters of any language: the picture of the prose, with each line of letters upside down.
    const strokes = Uint8Array.from(grey, (_, at) => {
      const [x, y] = [at % width, Math.floor(at / width)];
      const band = Math.floor(y / 12);
      return grey[(band * 12 + (11 - (y % 12))) * width + x] ?? 255;
    });
    const { receipt } = await readBlocks(parsePdf, toPdf([{ width, height, grey: strokes }]));
    expect(receipt.ocr.confidence).toBeLessThan(0.55);
    expect(receipt.gap_counts).toEqual({ garbled: 1 });
    expect(receipt.gaps[0]?.location).toEqual({ pages: { first: 1, last: 1 } });
  });

  test('leaves text as the file says it, and reads what its pictures add', async () => {
    const layer = line(60, 740, 'Gr\xf6\xdfe, M\xfche, \xdcbergr\xf6\xdfe, \xc4ste und F\xfc\xdfe', {
      size: 12,
    });
    const { pdf } = await scan(150, { layer });
    const { text, receipt } = await readBlocks(parsePdf, pdf);
    expect(receipt).toMatchObject({ ocr: { pages: 1 }, gap_count: 0 });
    expect(text.split('Größe, Mühe, Übergröße, Äste und Füße')).toHaveLength(2);
    expect(text).toContain('paedomorphic salamander');
    expect(errorRate(PROSE.join(' '), flat(text).replace(/^.*Füße /, ''))).toBeLessThan(0.02);
    const forced = await readBlocks(parsePdf, pdf, { ocr: 'force' });
    expect(forced.text).not.toContain('Übergröße');
  });

  test('stands where its picture shows it, also when the text of the page lies on its side', async () => {
    const { pdf } = await scan(150, { layer: `q 0 1 -1 0 20 0 cm ${line(60, 0, 'Read by 12 May')} Q` });
    const { text, blocks } = await readBlocks(parsePdf, pdf);
    expect(flat(text)).toContain('paedomorphic salamander');
    expect(blocks[0]?.place?.boxes?.[0]?.y).toBeCloseTo(82, -1);
  });

  test('reads ordinary pages only when it is forced', async () => {
    const pdf = drawPdf({ pages: [{ content: line(60, 700, 'Words that are text already', { size: 14 }) }] });
    expect((await readBlocks(parsePdf, pdf)).receipt.ocr.pages).toBe(0);
    const { text, receipt } = await readBlocks(parsePdf, pdf, { ocr: 'force' });
    expect(receipt.ocr.pages).toBe(1);
    expect(text).toContain('Words that are text already');
  });
});

test.each([
  ['pages', { pages: 1, seconds: 90 }, 'Text recognition of a document ends after 1 pages.'],
  ['time', { pages: 500, seconds: 0.001 }, 'Text recognition of a document ends after 0.001 seconds.'],
])('a gap names the limit that has ended text recognition: %s', async (_name, most, detail) => {
  const pdfium = await loadPdfium();
  if (!pdfium) throw new Error('no PDFium here');
  const receipt = createReceiptWriter();
  const recognizer = createRecognizer({ pdfium, options: DEFAULT_READ_OPTIONS, receipt, most });
  const { png } = await scan(72);
  const read = (page: number) =>
    recognizer.recognize({ page, width: 612, height: 792, picture: () => Promise.resolve(png) });
  expect(await read(1)).not.toBe('skipped');
  expect(await read(2)).toBe('skipped');
  const location = { pages: { first: 2, last: 2 } };
  expect(receipt.findings().gaps).toEqual([{ reason: 'limit', detail, location }]);
});

describe('a picture', () => {
  test('is read by text recognition', async () => {
    const { png } = await scan(150);
    const { text, receipt } = await readBlocks(parsePicture, png);
    expect(errorRate(PROSE.join(' '), flat(text))).toBeLessThan(0.02);
    expect(receipt).toMatchObject({
      parser: 'tesseract',
      unit: 'page',
      parts: 1,
      parts_read: 1,
      ocr: { pages: 1 },
    });
  });

  test('that is damaged, too large, or not to be read, says so', async () => {
    const { png } = await scan(72);
    await expect(readBlocks(parsePicture, png.subarray(0, 20))).rejects.toMatchObject({ code: 'corrupt' });
    await expect(readBlocks(parsePicture, png.subarray(0, 900))).rejects.toMatchObject({ code: 'corrupt' });
    const huge = Buffer.from(png);
    huge.writeUInt32BE(100_000, 16);
    await expect(readBlocks(parsePicture, huge)).rejects.toMatchObject({ code: 'too_large' });
    const { text, receipt } = await readBlocks(parsePicture, png, { ocr: 'off' });
    expect(text).toBe('');
    expect(receipt.gap_counts).toEqual({ skipped: 1 });
  });
});
