import { describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import {
  style,
  look,
  WHITE,
  DARK,
  span,
  type Parts,
  file,
  white,
  dark,
  pageOf,
  table,
  sheet,
  cell,
  box,
  frame,
  textBox,
  photo,
  slide,
  shapeStyles,
  master,
  ordinary,
  odp,
  animated,
} from '../../../support/open-document-looks.js';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const HIDDEN: readonly (readonly [FileFormat, string, Parts])[] = [
  ['odt', 'white in a cell without a fill', { body: table('', ''), styles: white }],
  [
    'odt',
    'of the colour of its table',
    {
      body: table('table:style-name="d"', ''),
      styles: style('t', 'text', look(`fo:color="${DARK}"`)) + dark('d', 'table'),
    },
  ],
  [
    'odt',
    'of the colour of the page',
    {
      body: span,
      styles: style('t', 'text', look(`fo:color="${DARK}"`)),
      pages: pageOf(`fo:background-color="${DARK}"`),
    },
  ],
  [
    'ods',
    'white by the style of its column',
    {
      body: sheet(cell('words') + cell('b'), '<table:table-column table:default-cell-style-name="c"/>'),
      styles: style('c', 'table-cell', WHITE),
    },
  ],
  [
    'odp',
    'white in a white shape on a dark slide',
    odp(slide(textBox(box(2), 'white'), 'draw:style-name="darkPage"')),
  ],
  [
    'odp',
    'of the colour of its slide',
    odp(slide(textBox(), 'draw:style-name="darkPage"'), style('t', 'text', look(`fo:color="${DARK}"`))),
  ],
  [
    'odp',
    'under a filled frame',
    odp(slide(textBox() + frame('', `draw:style-name="white" ${box(0, 20)}`)), ordinary),
  ],
];

const SEEN: readonly (readonly [FileFormat, string, Parts])[] = [
  [
    'odt',
    'white in a dark cell',
    { body: table('', 'table:style-name="d"'), styles: white + dark('d', 'table-cell') },
  ],
  [
    'odt',
    'white in a cell of a dark table',
    { body: table('table:style-name="d"', ''), styles: white + dark('d', 'table') },
  ],
  [
    'odt',
    'white in a dark section',
    {
      body: `<text:section text:style-name="s">${span}</text:section>`,
      styles: white + style('s', 'section', `<style:section-properties fo:background-color="${DARK}"/>`),
    },
  ],
  [
    'odt',
    'white on a picture of the page',
    {
      body: span,
      styles: white,
      pages: pageOf('').replace(
        '/></',
        '><style:background-image xlink:href="a.png"/></style:page-layout-properties></',
      ),
    },
  ],
  ['odt', 'white in a table of a template', { body: table('table:template-name="x"', ''), styles: white }],
  [
    'odt',
    'white on a dark page',
    { body: span, styles: white, pages: pageOf(`fo:background-color="${DARK}"`) },
  ],
  [
    'odt',
    'white where some pages are dark',
    { body: span, styles: white, pages: pageOf(`fo:background-color="${DARK}"`) + pageOf('') },
  ],
  ['odt', 'white in a frame', { body: `<text:p>${textBox()}</text:p>`, styles: white + shapeStyles }],
  [
    'odt',
    'white over a picture behind the text',
    {
      body: span,
      styles:
        white +
        style(
          'f',
          'graphic',
          '<style:graphic-properties style:run-through="background" style:wrap="run-through"/>',
        ),
    },
  ],
  [
    'odt',
    'of the colour of the window',
    { body: span, styles: style('t', 'text', look('fo:color="#ffffff" style:use-window-font-color="true"')) },
  ],
  [
    'ods',
    'white under a rule',
    {
      body: sheet(cell('words', 'table:style-name="c"')),
      styles: style('c', 'table-cell', `${WHITE}<style:map style:condition="x" style:apply-style-name="y"/>`),
    },
  ],
  [
    'ods',
    'a black piece of a white cell',
    {
      body: sheet(`<table:table-cell table:style-name="c">${span}</table:table-cell>`),
      styles: style('c', 'table-cell', WHITE) + ordinary,
    },
  ],
  ['odp', 'white on a dark master', odp(slide(textBox()), white, master('draw:style-name="darkPage"'))],
  [
    'odp',
    'white on a dark shape of the master',
    odp(slide(textBox()), white, master('', `<draw:rect draw:style-name="dark" ${box(0, 25)}/>`)),
  ],
  ['odp', 'white in a dark shape', odp(slide(textBox(box(2), 'dark')))],
  [
    'odp',
    'white on a dark shape',
    odp(slide(`<draw:rect draw:style-name="dark" ${box(0, 20)}/>${textBox()}`)),
  ],
  ['odp', 'white on a photograph', odp(slide(photo() + textBox()))],
  ['odp', 'white in a shape whose fill is not told', odp(slide(textBox(box(2), 'other')))],
  ['odp', 'under a smaller photograph', odp(slide(textBox() + photo(box(3, 1))), ordinary)],
  [
    'odp',
    'under a photograph that an animation takes away',
    odp(slide(textBox() + photo(`xml:id="s1" ${box(0, 20)}`), '', animated), ordinary),
  ],
  [
    'odp',
    'off the slide until an animation brings it',
    odp(slide(textBox(`xml:id="s1" ${box(30)}`), '', animated), ordinary),
  ],
  [
    'odp',
    'in notes, which have shapes of their own',
    odp(slide(`<presentation:notes>${textBox(box(40))}</presentation:notes>`), ordinary),
  ],
];

describe('text of an OpenDocument file that nobody sees', () => {
  test.each(HIDDEN)('is left out and named in %s: %s', async (format, _, parts) => {
    const dropped = await readBlocks(format, file(format, parts));
    expect(dropped.text).not.toContain('words');
    expect(dropped.receipt.gap_counts.hidden).toBe(1);
    const kept = await readBlocks(format, file(format, parts), { hiddenText: 'keep' });
    expect(kept.text).toContain('words');
    expect(kept.receipt.gap_counts).not.toHaveProperty('hidden');
    const flagged = await readBlocks(format, file(format, parts), { hiddenText: 'flag' });
    expect(flagged.text).toBe(kept.text);
    expect(flagged.receipt.gap_counts.hidden).toBe(1);
  });

  test.each(SEEN)('is not in %s: %s', async (format, _, parts) => {
    const { text, receipt } = await readBlocks(format, file(format, parts));
    expect(text).toContain('words');
    expect(receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test('is found in a time that grows with the number of shapes', async () => {
    const many = slide(textBox().repeat(30_000));
    const started = processorMilliseconds();
    await readBlocks('odp', file('odp', odp(many)));
    expect(processorMilliseconds() - started).toBeLessThan(15_000);
  });
});
