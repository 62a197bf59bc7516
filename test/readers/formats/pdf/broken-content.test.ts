import { deflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { drawPdf, line, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

const WORDS = Array.from({ length: 60 }, (_, at) =>
  line(60, 760 - 12 * at, `Line ${String(at)} of ${String(at * at)}.`),
);
const packed = deflateSync(Buffer.from(WORDS.join('')));
/** The content with its bytes from a place on changed. */
const changed = (from: number, to: number): Buffer => Buffer.from(packed).fill(0xff, from, to);
const half = Math.floor(packed.length / 2);

/** Two pages, of which the second shows a form whose content is packed. */
const twoPages = (content: Uint8Array, first = ''): Buffer =>
  drawPdf({
    pages: [
      { content: line(60, 700, 'Whole page.'), resources: first },
      { content: '/X Do', resources: '/XObject<</X 7 0 R>>' },
    ],
    objects: [
      stream(
        '/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Filter/FlateDecode',
        content,
      ),
    ],
  });

test('a page whose content breaks off is read until there, and says so', async () => {
  const { text, receipt } = await readBlocks('pdf', twoPages(changed(half, half + 40)));
  expect(text).toContain('Whole page.');
  expect(text).toContain('Line 0 of 0.');
  expect(text).not.toContain('Line 59');
  expect(receipt.gaps).toEqual([
    {
      reason: 'unreadable',
      detail: 'The content of the page is damaged: only its beginning is read.',
      location: { pages: { first: 2, last: 2 } },
    },
  ]);
});

test('content that breaks off is named once where nobody knows on which page it is', async () => {
  const { gaps } = await readBlocks('pdf', twoPages(changed(half, half + 40), '/XObject<</Y 99 0 R>>'));
  expect(gaps).toContain('unreadable: The content of a page is damaged: only its beginning is read.');
});

test('content whose checksum alone is wrong is whole', async () => {
  const { text, gaps } = await readBlocks('pdf', twoPages(changed(packed.length - 4, packed.length)));
  expect(text).toContain('Line 59');
  expect(gaps).toEqual([]);
});
