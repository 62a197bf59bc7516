import { describe, expect, test } from '@jest/globals';
import { detectFileType } from '../../../../src/readers/detection/detect.js';
import { parsePicture } from '../../../../src/readers/formats/ocr/picture.js';
import { renderPage } from '../../../../src/readers/formats/pages/render-page.js';
import { decodePng } from '../../../../src/readers/formats/pictures/png.js';
import { toBmp, toGif, type BitmapShape } from '../../../support/bitmaps.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { errorRate, flat, scanLines } from '../../../support/scans.js';

const LINES = ['The mill wheel turns at noon', 'and the miller counts his sacks'];
const SHAPES: readonly BitmapShape[] = [
  { bits: 1 },
  { bits: 4 },
  { bits: 8 },
  { bits: 24 },
  { bits: 32 },
  { bits: 24, isTopDown: true },
  { bits: 16, compression: 'fields' },
  { bits: 8, compression: 'rle8' },
  { bits: 4, compression: 'rle4' },
  { bits: 8, header: 12 },
  { bits: 24, header: 12 },
  { bits: 24, header: 64 },
  { bits: 8, header: 64, compression: 'rle8' },
];

describe('a picture as BMP', () => {
  test.each(SHAPES)('is read and shown: %j', async (shape) => {
    const file = toBmp(await scanLines(72, LINES), shape);
    expect(detectFileType(file.subarray(0, 65_536), 'scan.txt', null)?.format).toBe('bmp');
    const { text, receipt } = await readBlocks(parsePicture, file);
    expect(errorRate(LINES.join(' '), flat(text))).toBeLessThan(0.1);
    expect(receipt).toMatchObject({ unit: 'page', parts: 1, parts_read: 1 });
    const { width, height } = decodePng(await renderPage(file, 1, []));
    expect(width).toBeGreaterThan(100);
    expect(height).toBeGreaterThan(100);
  });

  test('is corrupt when it ends early, has no size, or points out of itself', async () => {
    const scan = await scanLines(72, LINES);
    const whole = toBmp(scan, { bits: 24 });
    const flatFile = Buffer.from(whole);
    flatFile.writeInt32LE(0, 22);
    const outside = toBmp(scan, { bits: 24, header: 12 });
    outside.writeUInt32LE(outside.length + 1, 10);
    for (const file of [whole.subarray(0, 22), whole.subarray(0, 5_000), flatFile, outside])
      await expect(readBlocks(parsePicture, file)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is too large with more pixels than other pictures may have', async () => {
    const file = Buffer.from(toBmp(await scanLines(72, LINES), { bits: 24 }));
    file.writeInt32LE(60_000, 18);
    file.writeInt32LE(-60_000, 22);
    await expect(readBlocks(parsePicture, file)).rejects.toMatchObject({ code: 'too_large' });
  });
});

describe('a picture as GIF', () => {
  test('is read and shown, and the first one of an animation, which is named', async () => {
    const scan = await scanLines(72, LINES);
    for (const frames of [1, 3]) {
      const file = toGif(scan, { frames });
      expect(detectFileType(file.subarray(0, 65_536), null, null)?.format).toBe('gif');
      const { text, gaps } = await readBlocks(parsePicture, file);
      expect(errorRate(LINES.join(' '), flat(text))).toBeLessThan(0.1);
      expect(gaps.filter((gap) => gap.includes('animation'))).toHaveLength(frames === 1 ? 0 : 1);
      expect(decodePng(await renderPage(file, 1, [])).width).toBeGreaterThan(100);
    }
  });

  test('is corrupt when it ends early', async () => {
    const file = toGif(await scanLines(72, LINES));
    for (const length of [8, 40, 2_000])
      await expect(readBlocks(parsePicture, file.subarray(0, length))).rejects.toMatchObject({
        code: 'corrupt',
      });
  });
});
