import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, line, lines } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** Lines of prose, each of which begins with its column and number. */
const column = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${String(index)} words of prose follow here and on`);

const read = (...content: string[]) =>
  readBlocks(parsePdf, drawPdf({ pages: [{ content: content.join('') }] }));

describe('the prose of a PDF page', () => {
  test('is read column by column where columns above are parted elsewhere than those below', async () => {
    const { text } = await read(
      lines(40, 740, column('upper', 8)),
      lines(240, 740, column('beside', 8)),
      line(40, 600, 'A title across all of the columns of the lower part of this page', { size: 16 }),
      lines(
        40,
        570,
        column('lower', 30).map((text) => `${text}, then on and on to its end`),
      ),
      lines(350, 570, column('last', 30)),
    );
    const marks = [
      'upper0',
      'upper7',
      'beside0',
      'beside7',
      'A title',
      'lower0',
      'lower29',
      'last0',
      'last29',
    ];
    expect(marks.toSorted((a, b) => text.indexOf(a) - text.indexOf(b))).toEqual(marks);
  });

  test('puts a large initial before the word that it begins', async () => {
    const { blocks } = await read(
      line(72, 630, 'T', { size: 36 }),
      lines(98, 650, ['his page shows how harbours grow and', 'which of them lie on rivers that carry']),
      lines(72, 626, ['much sand. We measure the depth of each for', 'forty years.']),
    );
    expect(blocks).toHaveLength(1);
    expect(blocks[0]?.text).toMatch(/^This page shows how harbours grow and\nwhich of them /);
    expect(blocks[0]?.heading).toBeUndefined();
  });

  test('keeps a line whose first words are bold with the lines after it', async () => {
    const { blocks } = await read(
      line(72, 740, 'Voice Typing', { font: 'F2', size: 11 }),
      line(72, 700, '1. Speech to text: programs write what is said to them', { font: 'F2' }),
      lines(72, 688, ['accessible to those who cannot use a keyboard, and also to', 'all others.']),
      line(72, 648, '2. Other Tools', { font: 'F2' }),
      lines(72, 636, column('tools', 3)),
    );
    expect(blocks.map(({ text, heading }) => [text.slice(0, 14), heading])).toEqual([
      ['Voice Typing\n\n', 3],
      ['1. Speech to t', undefined],
      ['2. Other Tools', 3],
      ['tools0 words o', undefined],
    ]);
  });
});
