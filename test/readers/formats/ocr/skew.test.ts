import { describe, expect, test } from '@jest/globals';
import type { Rectangle } from '../../../../src/readers/blocks/location.js';
import { parsePicture } from '../../../../src/readers/formats/ocr/picture.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { lines } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';
import {
  errorRate,
  flat,
  PROSE,
  scanContent,
  scanLines,
  skewed,
  toPdf,
  toPng,
  turned,
  type Scan,
} from '../../../support/scans.js';

const truth = PROSE.join(' ');
const DEGREES = [-3, -1.5, -1, 0, 1, 1.5, 2, 2.5, 3, 4];

async function rateOf(text: string, page: Scan, degrees: number): Promise<number> {
  const read = await readBlocks(parsePicture, toPng(skewed(page, degrees)));
  const rate = errorRate(text, flat(read.text));
  process.stdout.write(`character error rate at ${String(degrees)} degrees: ${rate.toFixed(4)}\n`);
  return rate;
}

describe('a scan that lies askew', () => {
  test.each(DEGREES)('has its words in order at %d degrees', async (degrees) => {
    expect(await rateOf(truth, await scanLines(150), degrees)).toBeLessThan(0.03);
  });

  test.each([-3, -1.5, 0, 2, 3])('has columns that are read one by one at %d degrees', async (degrees) => {
    const left = PROSE.flatMap(halves);
    const right = [...left].reverse();
    const style = { size: 10, leading: 15 };
    const page = await scanContent(150, `${lines(60, 700, left, style)}\n${lines(320, 694, right, style)}`);
    expect(await rateOf([...left, ...right].join(' '), page, degrees)).toBeLessThan(0.03);
  });

  test('keeps the rows of a table that its columns part', async () => {
    const rows = [
      ['Name of the lake', 'Depth in metres', 'Length in km', 'Country'],
      ['Lake Baikal', '1642', '636', 'Russia in Asia'],
      ['Lake Tanganyika', '1470', '676', 'Four countries'],
      ['Caspian Sea', '1025', '1030', 'Five countries'],
      ['Lake Vostok', '1000', '250', 'Antarctic ice'],
    ];
    const columns = rows[0]?.map((_, at) =>
      lines(
        60 + 125 * at,
        600,
        rows.map((row) => row[at] ?? ''),
        { size: 11, leading: 20 },
      ),
    );
    const above = lines(60, 700, PROSE.slice(0, 4), { size: 12, leading: 18 });
    const page = await scanContent(150, [above, ...(columns ?? [])].join('\n'));
    for (const degrees of [-2.5, 2]) {
      const { text } = await readBlocks(parsePicture, toPng(skewed(page, degrees)));
      for (const row of rows) expect(flat(text)).toContain(row.join(' '));
    }
  });

  test.each([0, 1, 2])(
    'has its places where its words stand, also when turned by %d quarters',
    async (quarters) => {
      const page = await scanLines(150);
      const [straight, askew] = [page, skewed(page, -2)].map((scan) => toPdf([turned(scan, quarters)]));
      const [before, after] = [await boxesOf(straight), await boxesOf(askew)];
      expect(after).toHaveLength(before.length);
      for (const [at, box] of before.entries()) {
        const around = after[at];
        const expected = aroundTurned(box, -2, quarters === 1 ? [792, 612] : [612, 792]);
        for (const side of ['x', 'y', 'width', 'height'] as const)
          expect(Math.abs((around?.[side] ?? 0) - expected[side])).toBeLessThan(5);
      }
    },
  );
});

async function boxesOf(pdf: Buffer | undefined): Promise<Rectangle[]> {
  const { blocks } = await readBlocks(parsePdf, pdf ?? Buffer.alloc(0));
  return blocks.flatMap(({ place }) => place?.boxes ?? []);
}

/** The upright rectangle around one that is turned clockwise, around the middle of the page. */
function aroundTurned(
  box: Rectangle,
  degrees: number,
  [width, height]: readonly [number, number],
): Rectangle {
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  const across = box.x + box.width / 2 - width / 2;
  const down = box.y + box.height / 2 - height / 2;
  const wide = box.width * cos + box.height * Math.abs(sin);
  const high = box.height * cos + box.width * Math.abs(sin);
  return {
    x: width / 2 + across * cos - down * sin - wide / 2,
    y: height / 2 + across * sin + down * cos - high / 2,
    width: wide,
    height: high,
  };
}

/** A line of text as two. */
function halves(text: string): string[] {
  const words = text.split(' ');
  const middle = Math.ceil(words.length / 2);
  return [words.slice(0, middle).join(' '), words.slice(middle).join(' ')];
}
