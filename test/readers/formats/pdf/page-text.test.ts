// pdf.js, which pdf-parse brings along, needs these before it is loaded.
import '../../../../src/readers/formats/pdf/pdfjs/pdf-globals.js';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PDFParse } from 'pdf-parse';
import { textOfPage } from '../../../../src/readers/formats/pdf/pdfjs/page-text.js';

const transform = [1, 0, 0, -1, 0, 800];
const item = fc.record({
  str: fc.constantFrom('', ' ', 'word', 'two words', '\n', 'ends\n'),
  transform: fc
    .tuple(fc.constantFrom(50, 55, 58, 90, 300), fc.constantFrom(700, 697, 695.4, 694, 680, 600))
    .map(([x, y]) => [10, 0, 0, 10, x, y]),
  width: fc.constantFrom(0, 5, 33),
  height: fc.constantFrom(0, 3, 10, 24),
  hasEOL: fc.boolean(),
});
const marks = fc.constant({});

test('the second reader puts the texts of a page together as pdf-parse does', async () => {
  const parser = new PDFParse({}) as unknown as { getPageText(page: unknown, how: object): Promise<string> };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof({ weight: 9, arbitrary: item }, marks)), async (items) => {
      // Each gets its own copy, since pdf-parse writes into what it reads.
      const page = () => ({
        getViewport: () => ({
          transform,
          convertToViewportPoint: (x: number, y: number) => [x, 800 - y],
        }),
        getTextContent: () => Promise.resolve({ items: structuredClone(items) }),
      });
      expect(await textOfPage(page())).toBe(await parser.getPageText(page(), {}));
    }),
    { numRuns: 500 },
  );
});
