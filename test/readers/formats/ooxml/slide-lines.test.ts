import { expect, test } from '@jest/globals';
import { parsePptx } from '../../../../src/readers/formats/ooxml/pptx.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { rgb, shape, slideFile } from '../../../support/slide-file.js';

/** White text on a white slide, beside a dark shape that has a line of the theme. */
const besideLine = (line: number): Uint8Array =>
  slideFile({
    shapes:
      shape('', {
        fill: rgb('101010'),
        at: [100, 200, 200, 200],
        style: `<p:style><a:lnRef idx="${String(line)}"><a:schemeClr val="accent1"/></a:lnRef></p:style>`,
      }) + shape('words', { color: rgb('FFFFFF') }),
  });

test.each([
  [0, 'no line'],
  [1, 'a thin line'],
])('white text beside a shape whose style gives it line %d of the theme, %s, is hidden', async (line) => {
  const { text, receipt } = await readBlocks(parsePptx, besideLine(line));
  expect(text).not.toContain('words');
  expect(receipt.gap_counts).toEqual({ hidden: 1 });
});

test('white text beside a shape whose style gives it a thick line of the theme, which may be behind it, is read', async () => {
  const { text } = await readBlocks(parsePptx, besideLine(2));
  expect(text).toContain('words');
});
