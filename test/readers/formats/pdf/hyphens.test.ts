import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, lines } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** The text that both readers make of a page of these lines, without its line ends. */
async function bothRead(texts: readonly string[]): Promise<string[]> {
  const file = drawPdf({ pages: [{ content: lines(72, 740, texts) }] });
  const read = [
    await readBlocks(parsePdf, file),
    await readBlocks(parsePdf, file, { avoidsNativeCode: true }),
  ];
  return read.map(({ text }) => text.trim().replaceAll('\n', ' '));
}

const holds = async (texts: readonly string[], ...expected: readonly string[]): Promise<void> => {
  for (const text of await bothRead(texts)) for (const words of expected) expect(text).toContain(words);
};

describe('a hyphen at the end of a line of a PDF', () => {
  test('goes where it only parts a word', async () => {
    await holds(
      [
        'The council talked about the adminis-',
        'tration of lakes, the INTRODUC-',
        'TION of fees and of gold-',
        'en days.',
      ],
      'the administration of lakes',
      'the INTRODUCTION of fees',
      'golden days',
    );
  });

  test('stays where the rest of the document writes the word with it', async () => {
    await holds(
      ['A cold-brewed tea and a gate-', 'keeper, who likes her cold-', 'brewed tea. The gatekeeper drinks.'],
      'a gatekeeper, who',
      'likes her cold-brewed tea',
    );
  });

  test('stays before numbers, behind capitals and in names', async () => {
    await holds(
      [
        'Between 1987-',
        '1993 the Baden-',
        'Baden line, a 10-',
        'year plan, the X-',
        'ray and the DNA-',
        'bound part held.',
      ],
      'Between 1987-1993 the',
      'the Baden-Baden line',
      'a 10-year plan',
      'the X-ray and',
      'the DNA-bound part',
    );
  });

  test('stays within compounds of several words and after the first parts of compounds', async () => {
    await holds(
      [
        'An up-to-',
        'date list of well-',
        'liked state-',
        'of-the-art tools, of mother-in-',
        'law jokes and self-',
        'made men.',
      ],
      'An up-to-date list of well-liked state-of-the-art tools, of mother-in-law jokes and self-made men.',
    );
  });

  test('stays, with a space, where a conjunction follows', async () => {
    await holds(
      [
        'The inter-',
        'and intra-city trains, the Ein-',
        'und Ausgang, short-',
        'to medium-term plans, and potas-',
        'sium.',
      ],
      'The inter- and intra-city trains, the Ein- und Ausgang, short- to medium-term plans, and potassium.',
    );
  });

  test('goes of every part of a word over three lines', async () => {
    await holds(['A narrow column has coun-', 'terrevo-', 'lutionaries.'], 'has counterrevolutionaries.');
  });

  test('is always left out where it is a soft one', async () => {
    await holds(['These were well\u00ad', 'known and X\u00ad', 'rayed.'], 'well', 'known');
    const [text = ''] = await bothRead(['These were mir\u00ad', 'rored twice.']);
    expect(text).toBe('These were mirrored twice.');
  });
});
