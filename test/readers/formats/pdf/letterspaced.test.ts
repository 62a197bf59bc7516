import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, line, lines } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

const read = async (...content: string[]): Promise<string> => {
  const { text } = await readBlocks(parsePdf, drawPdf({ pages: [{ content: content.join('') }] }));
  return text;
};

describe('letters of a PDF that are set apart', () => {
  test('are words, by spaces, by the spacing of characters, and where each letter is placed by itself', async () => {
    const placed = Array.from('LITERATURE', (letter, at) => line(72 + 18 * at, 610, letter, { size: 14 }));
    const text = await read(
      line(72, 740, 'F O R E W O R D', { size: 16 }),
      line(72, 710, 'T O  T H E  R E A D E R', { size: 14 }),
      line(72, 680, 'HARBOURS OF THE NORTH', { size: 14, before: '6 Tc' }),
      line(72, 650, 'a p p e n d i x', { size: 14 }),
      line(72, 635, 'A L L  I S  O N E', { size: 14 }),
      ...placed,
      lines(
        72,
        560,
        Array.from({ length: 5 }, () => 'words of an ordinary text follow here and on'),
      ),
    );
    expect(text.split(/\n+/).slice(0, 6)).toEqual([
      'FOREWORD',
      'TO THE READER',
      'HARBOURS OF THE NORTH',
      'appendix',
      'ALL IS ONE',
      'LITERATURE',
    ]);
  });

  test('stay apart where they are lists, grades, cells or words of one letter', async () => {
    const cells = Array.from('AEIOU', (letter, at) => line(72 + 60 * at, 620, letter));
    const text = await read(
      line(72, 740, 'A B C D E F G H'),
      line(72, 710, 'A B C D F'),
      line(72, 680, 'I a m here, A B C and x y z.'),
      line(72, 650, 'N E S W'),
      ...cells,
    );
    for (const kept of ['A B C D E F G H', 'A B C D F', 'I a m here, A B C and x y z.', 'N E S W'])
      expect(text).toContain(kept);
    expect(text).not.toContain('AEIOU');
  });
});
