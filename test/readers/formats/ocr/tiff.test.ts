import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { parsePicture } from '../../../../src/readers/formats/ocr/picture.js';
import { renderPage } from '../../../../src/readers/formats/pages/render-page.js';
import { decodePng } from '../../../../src/readers/formats/pictures/png.js';
import { encodeGroup3, encodeGroup4 } from '../../../support/fax.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { errorRate, flat, PROSE, scanLines, toJpeg, turned, type Scan } from '../../../support/scans.js';
import { packBits, toBits, writeTiff } from '../../../support/tiffs.js';

const reversed = (bytes: Buffer): Buffer =>
  Buffer.from(
    bytes.map((byte) => Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2)),
  );

const size = ({ width, height }: Scan) => ({ width, height });
const greyTiff = (scan: Scan) => ({
  ...size(scan),
  bits: 8 as const,
  compression: 8,
  photometric: 1,
  strips: [deflateSync(scan.grey)],
});
const faxTiff = (scan: Scan, more: Partial<Parameters<typeof writeTiff>[0][number]> = {}) => ({
  ...size(scan),
  bits: 1 as const,
  compression: 4,
  photometric: 0,
  strips: [encodeGroup4(scan)],
  ...more,
});

function stripsOf(scan: Scan, rows: number): Buffer[] {
  const strips: Buffer[] = [];
  for (let y = 0; y < scan.height; y += rows) {
    const height = Math.min(rows, scan.height - y);
    const grey = scan.grey.subarray(y * scan.width, (y + height) * scan.width);
    strips.push(encodeGroup4({ width: scan.width, height, grey }));
  }
  return strips;
}

describe('a TIFF of several pictures', () => {
  test('is read page by page, each in its own compression', async () => {
    const texts = ['First page of the fax', 'Second page of the fax', 'Third page of the fax'];
    const [first, second, third] = await Promise.all(texts.map((text) => scanLines(100, [text])));
    if (!first || !second || !third) throw new Error('nothing was drawn');
    const raw = { ...faxTiff(second), compression: 32_773, strips: [packBits(toBits(second))] };
    const tiff = writeTiff([greyTiff(first), raw, faxTiff(third)]);
    const { blocks, receipt } = await readBlocks(parsePicture, tiff);
    expect(blocks.map(({ text, place }) => [flat(text), place?.page])).toEqual(
      texts.map((text, index) => [text, index + 1]),
    );
    expect(receipt).toMatchObject({ unit: 'page', parts: 3, parts_read: 3, ocr: { pages: 3 }, gap_count: 0 });
  });

  test('is read up to 10,000 of them, and the gap names that limit', async () => {
    const picture = greyTiff({ width: 1, height: 1, grey: new Uint8Array([255]) });
    const read = (count: number) =>
      readBlocks(parsePicture, writeTiff(Array.from({ length: count }, () => picture)), { ocr: 'off' });
    expect((await read(10_000)).receipt).toMatchObject({ parts: 10_000, gap_counts: { skipped: 1 } });
    const { receipt, gaps } = await read(10_001);
    expect(receipt).toMatchObject({ parts: 10_000, gap_counts: { limit: 1, skipped: 1 } });
    expect(gaps[0]).toBe('limit: The file has more pictures than the 10,000 that are read.');
  });

  test('is shown page by page, with what was read marked', async () => {
    const scans = await Promise.all(['First page', 'Second page'].map((text) => scanLines(100, [text])));
    const [first, second] = scans;
    if (!first || !second) throw new Error('nothing was drawn');
    const tiff = writeTiff([greyTiff(first), faxTiff(second), greyTiff(first)]);
    const { blocks } = await readBlocks(parsePicture, tiff);
    const shown = await Promise.all(
      [0, 1, 2].map(async (index) => {
        const boxes = blocks[index]?.place?.boxes ?? [];
        const plain = decodePng(await renderPage(tiff, index + 1, []));
        return { plain, marked: decodePng(await renderPage(tiff, index + 1, boxes)) };
      }),
    );
    expect(shown[0]?.plain).toEqual(shown[2]?.plain);
    for (const { plain, marked } of shown) {
      // No blue is left of white pixels under the marker: black letters have others beside them.
      const isInk = (at: number) => (plain.pixels[at] ?? 255) < 128;
      const inked = Array.from({ length: plain.width * plain.height }, (_, at) => at * plain.channels).filter(
        isInk,
      );
      const isMarked = (at: number) => (marked.pixels[at + 2 - 3 * marked.channels] ?? 255) < 128;
      expect(inked.length).toBeGreaterThan(100);
      expect(inked.filter(isMarked).length / inked.length).toBeGreaterThan(0.9);
    }
    await expect(renderPage(tiff, 4, [])).rejects.toThrow('The document has no such page.');
  });

  test('reads each kind of fax', async () => {
    const scan = await scanLines(150);
    const kinds = {
      'Group 4': faxTiff(scan),
      'Group 4 in strips': faxTiff(scan, { strips: stripsOf(scan, 200), rows: 200 }),
      'bits from the right': faxTiff(scan, { strips: [reversed(encodeGroup4(scan))], tags: [[266, 2]] }),
      'Group 3': faxTiff(scan, { compression: 3, strips: [encodeGroup3(scan)] }),
    };
    for (const [kind, picture] of Object.entries(kinds)) {
      const { text, receipt } = await readBlocks(parsePicture, writeTiff([picture]));
      expect([kind, errorRate(PROSE.join(' '), flat(text)) < 0.02]).toEqual([kind, true]);
      expect(receipt).toMatchObject({ parts: 1, parts_read: 1, gap_count: 0 });
    }
  });

  test('reads JPEG in its colours', async () => {
    const scan = await scanLines(150);
    const jpeg = toJpeg(scan);
    const picture = { ...greyTiff(scan), compression: 7, photometric: 6, samples: 3, strips: [jpeg] };
    const { text, receipt } = await readBlocks(parsePicture, writeTiff([picture]));
    expect(errorRate(PROSE.join(' '), flat(text))).toBeLessThan(0.02);
    expect(receipt).toMatchObject({ parts: 1, parts_read: 1, gap_count: 0 });
  });

  test('names the pages that are not read, and reads the others', async () => {
    const scan = await scanLines(100, ['The only page that can be read']);
    const unread = { ...greyTiff(scan), compression: 34_712 };
    const huge = { ...greyTiff(scan), width: 100_000 };
    const broken = faxTiff(scan, { strips: [Buffer.alloc(0)] });
    const { text, gaps, receipt } = await readBlocks(
      parsePicture,
      writeTiff([unread, greyTiff(scan), huge, { ...greyTiff(scan), width: 0 }, broken]),
    );
    expect(flat(text)).toBe('The only page that can be read');
    expect(gaps).toEqual([
      'skipped: The picture is compressed as JPEG 2000, which is not read.',
      'limit: The picture has more pixels than are read.',
      'unreadable: The picture is damaged.',
      expect.stringMatching(/^(?:unreadable|empty): /),
    ]);
    expect(receipt.gaps.map(({ location }) => location?.pages?.first)).toEqual([1, 3, 4, 5]);
    expect(receipt.parts).toBe(5);
  });

  test('leaves smaller copies out', async () => {
    const scan = await scanLines(100, ['A picture and its thumbnail']);
    const { text, receipt } = await readBlocks(
      parsePicture,
      writeTiff([greyTiff(scan), { ...greyTiff(scan), tags: [[254, 1]] }]),
    );
    expect(flat(text)).toBe('A picture and its thumbnail');
    expect(receipt).toMatchObject({ parts: 1, parts_read: 1, gap_count: 0 });
  });

  test('is turned as its tag says, at no cost', async () => {
    const scan = turned(await scanLines(100), 3);
    const { text, receipt } = await readBlocks(
      parsePicture,
      writeTiff([{ ...greyTiff(scan), tags: [[274, 6]] }]),
    );
    expect(errorRate(PROSE.join(' '), flat(text))).toBeLessThan(0.02);
    expect(receipt.gap_count).toBe(0);
  });
});

describe('a hostile TIFF', () => {
  test('whose pictures form a ring is read once', async () => {
    const scan = await scanLines(72, ['Round and round']);
    const { receipt } = await readBlocks(
      parsePicture,
      writeTiff([greyTiff(scan), greyTiff(scan)], { ring: 0 }),
    );
    expect(receipt).toMatchObject({ parts: 2, gap_counts: { unreadable: 1 } });
  });

  test('that is cut off anywhere ends in a short time, as damaged or with what was read', async () => {
    const scan = await scanLines(72, ['Cut']);
    const tiff = writeTiff([faxTiff(scan, { strips: stripsOf(scan, 100), rows: 100 }), greyTiff(scan)]);
    for (let length = 4; length < tiff.length; length += Math.ceil(tiff.length / 40)) {
      const read = readBlocks(parsePicture, tiff.subarray(0, length));
      const end = await read.then(
        ({ receipt }) => (receipt.gap_count > 0 ? 'corrupt' : 'a gap is missing'),
        (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
      );
      expect(end).toBe('corrupt');
    }
  });

  test('with huge counts is damaged', async () => {
    const scan = await scanLines(72, ['Huge']);
    const tiff = writeTiff([faxTiff(scan, { strips: stripsOf(scan, 100), rows: 100 })]);
    const start = tiff.readUInt32LE(4);
    for (const [at, value] of [
      [start + 2 + 12 * 5 + 4, 0xffff_ffff],
      [start + 2 + 12 * 8 + 4, 0x4000_0000],
      [start, 0xffff],
    ] as const) {
      const changed = Buffer.from(tiff);
      if (value === 0xffff) changed.writeUInt16LE(value, at);
      else changed.writeUInt32LE(value, at);
      await expect(readBlocks(parsePicture, changed)).rejects.toMatchObject({ code: 'corrupt' });
    }
  });
});
