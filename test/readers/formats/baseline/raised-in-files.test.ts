import { describe, expect, it } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { openDocumentFile } from '../../../support/open-documents.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { shape, slideFile } from '../../../support/slide-file.js';
import { workbook } from '../../../support/workbooks.js';

type Style = 'up' | 'down' | 'plain';
type Runs = readonly (readonly [text: string, style: Style])[];

/** A text in runs, and how it is to be read in any format. */
const TEXTS: readonly (readonly [Runs, string])[] = [
  [
    [
      ['About 10', 'plain'],
      ['6', 'up'],
      [' cells', 'plain'],
    ],
    'About 10⁶ cells',
  ],
  [
    [
      ['10', 'plain'],
      ['-', 'up'],
      ['6', 'up'],
      [' m', 'plain'],
    ],
    '10⁻⁶ m',
  ],
  [
    [
      ['In 2019', 'plain'],
      ['3', 'up'],
      [' the treaty', 'plain'],
      ['1,2', 'up'],
    ],
    'In 2019³ the treaty¹,²',
  ],
  [
    [
      ['H', 'plain'],
      ['2', 'down'],
      ['SO', 'plain'],
      ['4', 'down'],
    ],
    'H₂SO₄',
  ],
  [
    [
      ['on the 5', 'plain'],
      ['th', 'up'],
      [' floor', 'plain'],
    ],
    'on the 5th floor',
  ],
  [
    [
      ['A', 'plain'],
      ['14', 'up'],
      ['C test', 'plain'],
      ['a', 'up'],
    ],
    'A¹⁴C test^a',
  ],
  [
    [
      ['x', 'plain'],
      ['i', 'down'],
      [' and x', 'plain'],
      ['n+1', 'up'],
    ],
    'x_i and x^(n+1)',
  ],
  [
    [
      ['word', 'plain'],
      ['[2]', 'up'],
      [' or ', 'plain'],
      ['Quire', 'plain'],
      ['TM', 'up'],
    ],
    'word[2] or Quire™',
  ],
];

const html = (tags: Readonly<Record<Style, string>>) => (runs: Runs) =>
  `<p>${runs.map(([text, style]) => tags[style].replace('#', text)).join('')}</p>`;

const word = (properties: Readonly<Record<Style, string>>) => (runs: Runs) => {
  const written = runs.map(
    ([text, style]) =>
      `<w:r><w:rPr>${properties[style]}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`,
  );
  const styles =
    '<w:style w:type="character" w:styleId="Base"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>' +
    '<w:style w:type="character" w:styleId="Up"><w:basedOn w:val="Base"/></w:style>' +
    '<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr><w:sz w:val="24"/></w:rPr></w:style>';
  return officePackage({
    parts: {
      'word/document.xml': root('w:document', `<w:body><w:p>${written.join('')}</w:p></w:body>`),
      'word/styles.xml': root('w:styles', styles),
    },
    relations: {
      '': [['rId1', 'officeDocument', 'word/document.xml']],
      'word/document.xml': [['rId1', 'styles', 'styles.xml']],
    },
  });
};

const slides = (runs: Runs) => {
  const baselines = { up: 'baseline="30000"', down: 'baseline="-25000"', plain: '' };
  const written = runs.map(([text, style]) => `<a:r><a:rPr ${baselines[style]}/><a:t>${text}</a:t></a:r>`);
  return slideFile({ shapes: shape('#').replace(/<a:p>.*<\/a:p>/, `<a:p>${written.join('')}</a:p>`) });
};

const openText = (position: Readonly<Record<Style, string>>) => (runs: Runs) => {
  const style = (name: string, value: string): string =>
    `<style:style style:name="${name}B" style:family="text"><style:text-properties style:text-position="${value}"/></style:style>` +
    `<style:style style:name="${name}" style:parent-style-name="${name}B" style:family="text"/>`;
  const styles = style('up', position.up) + style('down', position.down);
  const spans = runs.map(([text, name]) =>
    name === 'plain' ? text : `<text:span text:style-name="${name}">${text}</text:span>`,
  );
  return openDocumentFile('text', `<text:p>${spans.join('')}</text:p>`, { styles });
};

const rtf = (words: Readonly<Record<Style, string>>) => (runs: Runs) =>
  Buffer.from(
    `{\\rtf1\\ansi\\fs24 ${runs.map(([text, style]) => words[style].replace('#', text)).join('')}\\par}`,
  );

const markup = (document: string, tags: Readonly<Record<Style, string>>) => (runs: Runs) =>
  document.replace('@', runs.map(([text, style]) => tags[style].replace('#', text)).join(''));

const FORMATS = {
  'html by elements': ['html', html({ up: '<sup>#</sup>', down: '<sub>#</sub>', plain: '#' })],
  'html by style': [
    'html',
    html({
      up: '<span style="vertical-align: super">#</span>',
      down: '<span style="vertical-align:sub">#</span>',
      plain: '<b>#</b>',
    }),
  ],
  'html by class': [
    'html',
    (runs: Runs) =>
      `<style>.u { vertical-align: super } .d { vertical-align: sub }</style>${html({ up: '<i class="u">#</i>', down: '<i class="d">#</i>', plain: '#' })(runs)}`,
  ],
  'html of links': ['html', html({ up: '<sup><a>#</a></sup>', down: '<sub>#</sub>', plain: '#' })],
  'docx by runs': [
    'docx',
    word({ up: '<w:vertAlign w:val="superscript"/>', down: '<w:vertAlign w:val="subscript"/>', plain: '' }),
  ],
  'docx by styles': [
    'docx',
    word({ up: '<w:rStyle w:val="Up"/>', down: '<w:vertAlign w:val="subscript"/>', plain: '' }),
  ],
  'docx by position': [
    'docx',
    word({
      up: '<w:position w:val="8"/><w:sz w:val="16"/>',
      down: '<w:position w:val="-6"/><w:sz w:val="16"/>',
      plain: '<w:position w:val="0"/>',
    }),
  ],
  pptx: ['pptx', slides],
  'odt by names': ['odt', openText({ up: 'super 58%', down: 'sub 58%', plain: '' })],
  'odt by percent': ['odt', openText({ up: '33% 58%', down: '-33% 58%', plain: '' })],
  'rtf by groups': ['rtf', rtf({ up: '{\\super #}', down: '{\\sub #}', plain: '#' })],
  'rtf by words': ['rtf', rtf({ up: '\\super #\\nosupersub ', down: '\\sub #\\nosupersub ', plain: '{#}' })],
  'rtf by moves': ['rtf', rtf({ up: '{\\up8\\fs16 #}', down: '{\\dn6\\fs16 #}', plain: '#' })],
  JATS: [
    'xml',
    markup('<article dtd-version="1"><body><p>@</p></body></article>', {
      up: '<sup>#</sup>',
      down: '<sub>#</sub>',
      plain: '#',
    }),
  ],
  DocBook: [
    'xml',
    markup('<book xmlns="http://docbook.org/DocBook"><para>@</para></book>', {
      up: '<superscript>#</superscript>',
      down: '<subscript>#</subscript>',
      plain: '#',
    }),
  ],
  TEI: [
    'xml',
    markup('<TEI><text><p>@</p></text></TEI>', {
      up: '<hi rend="superscript">#</hi>',
      down: '<hi rend="sub">#</hi>',
      plain: '#',
    }),
  ],
} as const;

describe.each(Object.entries(FORMATS))('raised and lowered text of %s', (_name, [format, write]) => {
  it.each(TEXTS.map(([runs, expected]) => ({ runs, expected })))(
    'is read as $expected',
    async ({ runs, expected }) => {
      const { text } = await readBlocks(format, write(runs));
      expect(text.trim().split('\n\n').at(-1)).toBe(expected);
    },
  );
});

const sheet = (runs: Runs) => {
  const alignments = { up: 'superscript', down: 'subscript', plain: 'baseline' };
  const written = runs.map(
    ([text, style]) =>
      `<r><rPr><vertAlign val="${alignments[style]}"/></rPr><t xml:space="preserve">${text}</t></r>`,
  );
  const cell = (reference: string, content: string): string =>
    `<c r="${reference}" t="inlineStr"><is>${content}</is></c>`;
  const rows = `<row r="1">${cell('A1', '<t>Name</t>')}${cell('B1', '<t>Text</t>')}</row><row r="2">${cell('A2', '<t>x</t>')}${cell('B2', written.join(''))}</row>`;
  return workbook({ sheets: [{ name: 'One', rows }] });
};

describe('raised and lowered text of a cell of Excel', () => {
  it.each(TEXTS.map(([runs, expected]) => ({ runs, expected })))(
    'is read as $expected',
    async ({ runs, expected }) => {
      const { text } = await readBlocks('xlsx', sheet(runs));
      expect(text).toContain(`| x | ${expected} |`);
    },
  );
});

describe('raised and lowered text', () => {
  it('of a cell is read in the table', async () => {
    const { text } = await readBlocks(
      'html',
      '<table><tr><th>Place<th>Size<tr><td>Here<td>5 km<sup>2</sup><tr><td>There<td>10<sup>3</sup> m</table>',
    );
    expect(text).toContain('| Here | 5 km² |');
    expect(text).toContain('| There | 10³ m |');
  });

  it('of a heading is read as in other text', async () => {
    const { blocks } = await readBlocks('html', '<h2>CO<sub>2</sub> in the 5<sup>th</sup> year</h2><p>x');
    expect(blocks[0]).toEqual({ text: 'CO₂ in the 5th year\n\n', heading: 2 });
  });

  it('of a whole paragraph is ordinary text', async () => {
    expect((await readBlocks('html', '<p><sup>All <b>prices</b> without tax.</sup></p>')).text).toBe(
      'All prices without tax.\n\n',
    );
  });

  it('that nobody sees is left out and named', async () => {
    const page = '<p>10<sup style="display:none">6</sup> cells</p>';
    const { text, gaps } = await readBlocks('html', page);
    expect(text).toBe('10 cells\n\n');
    expect(gaps).toHaveLength(1);
  });

  it('is not that of cells and pictures that are only aligned', async () => {
    const { text } = await readBlocks('html', '<p style="vertical-align: super">one 2</p>');
    expect(text).toBe('one 2\n\n');
  });
});
