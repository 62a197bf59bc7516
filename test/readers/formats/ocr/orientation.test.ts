import { describe, expect, test } from '@jest/globals';
import { parsePicture } from '../../../../src/readers/formats/ocr/picture.js';
import { createRecognizer } from '../../../../src/readers/formats/ocr/recognizer.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { loadPdfium } from '../../../../src/readers/formats/pages/pdfium.js';
import { DEFAULT_READ_OPTIONS } from '../../../../src/readers/read-options.js';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { errorRate, flat, PROSE, scanLines, toJpeg, toPdf, toPng, turned } from '../../../support/scans.js';

const truth = PROSE.join(' ');

describe('a page that lies on its side or upside down', () => {
  test.each([0, 1, 2, 3])('is read upright in a scan turned by %d quarters', async (quarters) => {
    const page = turned(await scanLines(100), quarters);
    for (const [parser, file] of [
      [parsePicture, toPng(page)],
      [parsePdf, toPdf([page])],
    ] as const) {
      const { text, receipt } = await readBlocks(parser, file);
      expect(errorRate(truth, flat(text))).toBeLessThan(0.02);
      expect(receipt).toMatchObject({ parts_read: 1, ocr: { pages: 1 }, gap_count: 0 });
      expect(receipt.ocr.confidence).toBeGreaterThan(0.8);
    }
  });

  test('has its places where they are on the page as it is shown', async () => {
    const page = await scanLines(100);
    const boxOf = async (quarters: number) => {
      const { blocks } = await readBlocks(parsePdf, toPdf([turned(page, quarters)]));
      return blocks[0]?.place?.boxes?.[0] ?? { x: 0, y: 0, width: 0, height: 0 };
    };
    const { x, y, width, height } = await boxOf(0);
    const expected = [
      { x: 792 - y - height, y: x, width: height, height: width },
      { x: 612 - x - width, y: 792 - y - height, width, height },
      { x: y, y: 612 - x - width, width: height, height: width },
    ];
    for (const [index, box] of expected.entries()) {
      const found = await boxOf(index + 1);
      for (const side of ['x', 'y', 'width', 'height'] as const)
        expect(Math.abs(found[side] - box[side])).toBeLessThan(4);
    }
  });

  test('does not change how the other pages of a document are read', async () => {
    const page = await scanLines(100);
    const scans = [page, turned(page, 2), turned(page, 2), page, turned(page, 1)];
    const { blocks, receipt } = await readBlocks(parsePdf, toPdf(scans));
    for (let number = 1; number <= scans.length; number += 1) {
      const texts = blocks.filter(({ place }) => place?.page === number).map(({ text }) => text);
      // Lines that all pages repeat may count as furniture.
      expect(errorRate(truth, flat(texts.join(' ')))).toBeLessThan(0.1);
    }
    expect(receipt.ocr.pages).toBe(scans.length);
  });

  test('costs the pages that are upright nothing, and pages as the last one lay nothing more', async () => {
    const pdfium = await loadPdfium();
    if (!pdfium) throw new Error('no PDFium here');
    const angles: number[] = [];
    const counting = {
      ...pdfium,
      recognize: (...[bytes, how]: Parameters<typeof pdfium.recognize>) => {
        angles.push(how.angle);
        return pdfium.recognize(bytes, how);
      },
    };
    const recognizer = createRecognizer({
      pdfium: counting,
      options: DEFAULT_READ_OPTIONS,
      receipt: createReceiptWriter(),
    });
    const upright = await scanLines(100);
    for (const quarters of [0, 0, 2, 2, 0, 3]) {
      const page = turned(upright, quarters);
      const { width, height } = page;
      await recognizer.recognize({ page: 1, width, height, picture: () => Promise.resolve(toPng(page)) });
    }
    expect(angles).toEqual([0, 0, 0, 180, 180, 180, 0, 0, 270]);
  });

  test('is turned as a camera says that it was held', async () => {
    const page = turned(await scanLines(100), 3);
    const jpeg = withOrientation(toJpeg(page), 6);
    const { text, blocks } = await readBlocks(parsePicture, jpeg);
    expect(errorRate(truth, flat(text))).toBeLessThan(0.05);
    // Places are those of the picture as it is shown, which the camera's note has turned.
    expect(blocks[0]?.place?.boxes?.[0]?.x).toBeLessThan(100);
  });
});

/** Puts what a camera writes between the start of a JPEG and the rest. */
function withOrientation(jpeg: Buffer, orientation: number): Buffer {
  const note = Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0', 'latin1');
  note.writeUInt16BE(orientation, 24);
  const head = Buffer.from([0xff, 0xe1, 0, note.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, note, jpeg.subarray(2)]);
}
