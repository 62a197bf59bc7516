import { expect, test } from '@jest/globals';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import { officePackage, root } from '../../../support/office-packages.js';
import { cell, file, look, sheet, style } from '../../../support/open-document-looks.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { expectUnseen, hiddenOf } from '../../../support/unseen-text.js';

// Each file has a word that is seen, and a word that may be hidden by what holds it, or by a condition.

const docx = (content: string): Uint8Array =>
  officePackage({
    parts: {
      'word/document.xml': root(
        'w:document',
        `<w:body><w:p><w:r><w:t>Shown</w:t></w:r>${content}</w:p></w:body>`,
      ),
    },
  });
const BOX =
  '<w:drawing><wps:wsp><wps:txbx><w:txbxContent><w:p><w:r><w:t>Canary</w:t></w:r></w:p></w:txbxContent></wps:txbx></wps:wsp></w:drawing>';

const paragraph = (content: string): string => `<text:p>${content}</text:p>`;
const odt = (body: string, styles = ''): Uint8Array => file('odt', { body, styles });
const inSpan = (content: string, attributes: string): Uint8Array =>
  odt(
    paragraph(`Shown<text:span text:style-name="t">${content}</text:span>`),
    style('t', 'text', look(attributes)),
  );
const HIDDEN = 'text:display="none"';
const ods = (body: string): Uint8Array => file('ods', { body });
const row = (cells: string): string => `<table:table-row>${cells}</table:table-row>`;
const inGroup = (kind: 'row' | 'column', content: string): string =>
  `<table:table-${kind}-group table:display="false"><table:table-${kind}-group>${content}</table:table-${kind}-group></table:table-${kind}-group>`;

const rtf = (body: string): string =>
  `{\\rtf1\\ansi{\\colortbl;\\red255\\green255\\blue255;}Shown ${body}\\par}`;
const NOTE = '{\\footnote\\pard\\plain Canary}';

type Row = readonly [FileFormat, string, string | Uint8Array];

const UNSEEN: readonly (readonly [...Row, string])[] = [
  ['docx', 'a box', docx(`<w:r><w:rPr><w:vanish/></w:rPr>${BOX}</w:r>`), '1 hidden shape'],
  ['docx', 'a deleted box', docx(`<w:del><w:r>${BOX}</w:r></w:del>`), '1 deleted shape'],
  [
    'odt',
    'a box',
    inSpan(`<draw:frame><draw:text-box>${paragraph('Canary')}</draw:text-box></draw:frame>`, HIDDEN),
    '6 characters of hidden text',
  ],
  [
    'odt',
    'a note',
    inSpan(`<text:note><text:note-body>${paragraph('Canary')}</text:note-body></text:note>`, HIDDEN),
    '6 characters of hidden text',
  ],
  [
    'odt',
    'the head of pages',
    file('odt', {
      body: paragraph('Shown'),
      pages: `<style:header style:display="false">${paragraph('Canary')}</style:header>`,
    }),
    '6 characters of hidden text',
  ],
  [
    'ods',
    'a group of columns',
    ods(
      sheet(
        cell('Shown') + cell('Canary'),
        `<table:table-column/>${inGroup('column', '<table:table-column/>')}`,
      ),
    ),
    '6 characters of hidden columns',
  ],
  [
    'ods',
    'a group of rows',
    ods(
      `<table:table table:name="Data">${inGroup('row', row(cell('Canary')))}${row(cell('Shown'))}</table:table>`,
    ),
    '6 characters of hidden rows',
  ],
  [
    'ods',
    'a cell under another',
    ods(
      sheet(
        cell('Shown', 'table:number-columns-spanned="2"') +
          cell('Canary').replaceAll('table-cell', 'covered-table-cell'),
      ),
    ),
    '6 characters in cells that others cover',
  ],
  ['rtf', 'a note', rtf(`{\\v${NOTE}}`), '6 characters of hidden text'],
  ['rtf', 'a deleted note', rtf(`{\\deleted${NOTE}}`), '6 characters of tracked deletions'],
  [
    'rtf',
    'a box',
    rtf('{\\v{\\shp{\\*\\shpinst{\\shptxt\\pard\\plain Canary}}}}'),
    '6 characters of hidden text',
  ],
];

const SEEN: readonly Row[] = [
  [
    'odt',
    'a text that its condition does not hide now',
    odt(paragraph('Shown <text:hidden-text text:condition="ooow:a">Canary</text:hidden-text>')),
  ],
  [
    'odt',
    'a paragraph that its condition does not hide now',
    odt(paragraph('Shown') + paragraph('Canary<text:hidden-paragraph text:condition="ooow:a"/>')),
  ],
  [
    'odt',
    'text in the colour of windows, of which LibreOffice says that it is transparent',
    inSpan('Canary', 'fo:color="#ffffff" style:use-window-font-color="true" loext:opacity="0%"'),
  ],
  ['rtf', 'white text in lines', rtf('{\\outl\\cf1 Canary}')],
  ['rtf', 'white text with a shadow', rtf('{\\shad\\cf1 Canary}')],
  ['rtf', 'white text on pages of another colour', rtf('{\\*\\background{\\shp}}{\\cf1 Canary}')],
];

test.each(UNSEEN)('text of %s that is hidden with %s is left out', async (format, _, content, kind) => {
  await expectUnseen(format, content, kind);
});

test.each(SEEN)('%s: %s is read', async (format, _, content) => {
  const { text, gaps } = await readBlocks(format, content);
  expect(text).toContain('Canary');
  expect(hiddenOf(gaps)).toEqual([]);
});
