import { describe, expect, test } from '@jest/globals';
import { parseDocx } from '../../../../src/readers/formats/ooxml/docx.js';
import { officePackage, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';

interface WordParts {
  readonly body: string;
  /** The content before the body. */
  readonly background?: string;
  readonly settings?: string;
  readonly styles?: string;
}

/** A Word file with a theme whose first colours are white and black. */
function word({ body, background = '', settings = '', styles = '' }: WordParts): Uint8Array {
  const colors = { lt1: 'FFFFFF', dk1: '000000', lt2: 'EEECE1', dk2: '1F497D' };
  const scheme = Object.entries(colors).map(
    ([name, digits]) => `<a:${name}><a:srgbClr val="${digits}"/></a:${name}>`,
  );
  return officePackage({
    parts: {
      'word/document.xml': root('w:document', `${background}<w:body>${body}</w:body>`),
      'word/settings.xml': root('w:settings', settings),
      'word/styles.xml': root('w:styles', styles),
      'word/theme/theme1.xml': root(
        'a:theme',
        `<a:themeElements><a:clrScheme>${scheme.join('')}</a:clrScheme></a:themeElements>`,
      ),
    },
    relations: {
      '': [['rId1', 'officeDocument', 'word/document.xml']],
      'word/document.xml': [
        ['r1', 'settings', 'settings.xml'],
        ['r2', 'theme', 'theme/theme1.xml'],
        ['r3', 'styles', 'styles.xml'],
      ],
    },
  });
}

const words = (properties: string): string => `<w:r><w:rPr>${properties}</w:rPr><w:t>words</w:t></w:r>`;
const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const shade = (fill: string, more = ''): string => `<w:shd w:val="clear" w:fill="${fill}" ${more}/>`;
const table = (content: string, cell = '', properties = ''): string =>
  `<w:tbl><w:tblPr>${properties}</w:tblPr><w:tr><w:tc><w:tcPr>${cell}</w:tcPr>${paragraph(content)}</w:tc><w:tc>${paragraph('<w:r><w:t>b</w:t></w:r>')}</w:tc></w:tr></w:tbl>`;
const WHITE = '<w:color w:val="FFFFFF"/>';
const themed = (name: string, more = ''): string =>
  `<w:color w:val="123456" w:themeColor="${name}" ${more}/>`;
const shown = '<w:displayBackgroundShape/>';
const dark = '<w:background w:color="101010"/>';
const tableStyle = (content: string): string =>
  `<w:style w:type="table" w:styleId="T"><w:name w:val="T"/>${content}</w:style>`;
const defaults = (run: string): string =>
  `<w:docDefaults><w:rPrDefault><w:rPr>${run}</w:rPr></w:rPrDefault></w:docDefaults>`;
const usual = (run: string): string =>
  `<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr>${run}</w:rPr></w:style>`;
const filled = (color: string): string =>
  `<w14:textFill><w14:solidFill>${color}</w14:solidFill></w14:textFill>`;
const BACKGROUND = '<w14:schemeClr w14:val="bg1"/>';
const LINES = `<w14:textOutline><w14:solidFill><w14:srgbClr w14:val="000000"/></w14:solidFill></w14:textOutline>`;
const anchored = `<w:drawing><wp:anchor behindDoc="1"/></w:drawing>`;

const HIDDEN: readonly (readonly [string, WordParts])[] = [
  ['the background of the theme', { body: paragraph(words(themed('background1'))) }],
  [
    'white by a map of the theme',
    {
      body: paragraph(words(themed('text1'))),
      settings: '<w:clrSchemeMapping w:bg1="dark1" w:t1="light1"/>',
    },
  ],
  ['black on black', { body: paragraph(words(`<w:color w:val="000000"/>${shade('000000')}`)) }],
  [
    'yellow marked with yellow',
    { body: paragraph(words('<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>')) },
  ],
  ['white in a cell without a fill', { body: table(words(WHITE)) }],
  [
    'white in a table whose style has lines alone',
    { body: table(words(WHITE), '', '<w:tblStyle w:val="T"/>'), styles: tableStyle('<w:tblPr/>') },
  ],
  ['of the colour of its cell', { body: table(words('<w:color w:val="445566"/>'), shade('445566')) }],
  [
    'of the colour of the page',
    { body: paragraph(words('<w:color w:val="111111"/>')), background: dark, settings: shown },
  ],
  ['vanished by the defaults', { body: paragraph(words('')), styles: defaults('<w:vanish/>') }],
  [
    'vanished by the style that holds without one',
    { body: paragraph(words('')), styles: usual('<w:vanish/>') },
  ],
  ['white by the defaults', { body: paragraph(words('')), styles: defaults(WHITE) }],
  ['white with white shading', { body: paragraph(words(`${WHITE}${shade('FFFFFF')}`)) }],
  [
    'white without shading, as it says',
    { body: paragraph(words(`${WHITE}${shade('auto')}`), shade('auto')) },
  ],
  ['white without a mark, as it says', { body: paragraph(words(`${WHITE}<w:highlight w:val="none"/>`)) }],
  ['the background of the theme by the fill of its letters', { body: paragraph(words(filled(BACKGROUND))) }],
  [
    'white by the fill of its letters, which comes before their colour',
    { body: paragraph(words(`<w:color w:val="000000"/>${filled('<w14:srgbClr w14:val="FFFFFF"/>')}`)) },
  ],
  [
    'white with lines without a colour, and a shadow that is off',
    {
      body: paragraph(words(`${WHITE}<w:shadow w:val="0"/><w14:textOutline><w14:noFill/></w14:textOutline>`)),
    },
  ],
  [
    'white in a white paragraph before a picture that lies behind the text',
    { body: paragraph(words(WHITE), shade('FFFFFF')) + paragraph(anchored) },
  ],
];

const SEEN: readonly (readonly [string, WordParts])[] = [
  [
    'beside a style that has no name to be used by',
    {
      body: paragraph(words('')),
      styles: '<w:style><w:name w:val="EmptyCellLayoutStyle"/><w:rPr><w:sz w:val="2"/></w:rPr></w:style>',
    },
  ],
  ['white on a dark page', { body: paragraph(words(WHITE)), background: dark, settings: shown }],
  ['white where a page may be dark', { body: paragraph(words(WHITE)), background: dark }],
  ['white, marked', { body: paragraph(words(`${WHITE}<w:highlight w:val="darkBlue"/>`)) }],
  [
    'white in a paragraph of the theme',
    { body: paragraph(words(WHITE), shade('auto', 'w:themeFill="text2"')) },
  ],
  ['white in a dark cell', { body: table(words(WHITE), shade('000000')) }],
  ['white in a cell of a dark table', { body: table(words(WHITE), '', shade('000000')) }],
  [
    'white in a table whose style fills cells',
    {
      body: table(words(WHITE), '', '<w:tblStyle w:val="T"/>'),
      styles: tableStyle(
        `<w:tblStylePr w:type="firstRow"><w:tcPr>${shade('4F81BD')}</w:tcPr></w:tblStylePr>`,
      ),
    },
  ],
  [
    'white before a picture that lies behind the text',
    { body: paragraph(words(WHITE)) + paragraph(anchored) },
  ],
  ['white with a shadow', { body: paragraph(words(`${WHITE}<w:shadow/>`)) }],
  [
    'white by its colour, but not by the fill of its letters',
    { body: paragraph(words(`${WHITE}${filled('<w14:srgbClr w14:val="000000"/>')}`)) },
  ],
  [
    'of the background of the theme, made darker',
    {
      body: paragraph(
        words(filled('<w14:schemeClr w14:val="bg1"><w14:lumMod w14:val="50000"/></w14:schemeClr>')),
      ),
    },
  ],
  [
    'without a fill, in lines',
    { body: paragraph(words(`${LINES}<w14:textFill><w14:noFill/></w14:textFill>`)) },
  ],
  ['automatic', { body: paragraph(words('<w:color w:val="auto"/>'), shade('000000')) }],
  ['white in a frame, which may lie on anything', { body: paragraph(words(WHITE), '<w:framePr/>') }],
  ['white in a table with a place of its own', { body: table(words(WHITE), '', '<w:tblpPr/>') }],
  [
    'white in a table whose style colours its text',
    {
      body: table(words(''), '', '<w:tblStyle w:val="T"/>'),
      styles: defaults(WHITE) + tableStyle('<w:rPr><w:color w:val="000000"/></w:rPr>'),
    },
  ],
  [
    'vanished by the style of its paragraph and shown by that of its run',
    {
      body: paragraph(words('<w:rStyle w:val="C"/>')),
      styles:
        usual('<w:vanish/>') +
        '<w:style w:type="character" w:styleId="C"><w:rPr><w:vanish/></w:rPr></w:style>',
    },
  ],
  [
    'in a row whose end alone is hidden',
    { body: table(words('')).replace('<w:tr>', '<w:tr><w:trPr><w:hidden/></w:trPr>') },
  ],
  ['a grey of the theme', { body: paragraph(words(themed('background1', 'w:themeShade="BF"'))) }],
];

describe('text of a Word file that nobody sees', () => {
  test.each(HIDDEN)('is left out and named: %s', async (_, parts) => {
    const { text, receipt } = await readBlocks(parseDocx, word(parts));
    expect(text).not.toContain('words');
    expect(receipt.gap_counts.hidden).toBe(1);
    const kept = await readBlocks(parseDocx, word(parts), { hiddenText: 'keep' });
    expect(kept.text).toContain('words');
    expect(kept.receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test.each(SEEN)('is not: %s', async (_, parts) => {
    const { text, receipt } = await readBlocks(parseDocx, word(parts));
    expect(text).toContain('words');
    expect(receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test('is a note whose reference is hidden or deleted, and no note whose reference is small', async () => {
    const reference = (properties: string): string =>
      `<w:r><w:rPr>${properties}</w:rPr><w:footnoteReference w:id="1"/></w:r>`;
    const noted = (body: string) =>
      officePackage({
        parts: {
          'word/document.xml': root('w:document', `<w:body>${paragraph(body)}</w:body>`),
          'word/footnotes.xml': root(
            'w:footnotes',
            `<w:footnote w:id="1">${paragraph(words(''))}</w:footnote>`,
          ),
        },
        relations: { 'word/document.xml': [['f', 'footnotes', 'footnotes.xml']] },
      });
    const hidden = {
      'hidden: 5 characters of hidden text were left out.': reference('<w:vanish/>'),
      'hidden: 5 characters of tracked deletions were left out.': `<w:del>${reference('')}</w:del>`,
    };
    for (const [gap, body] of Object.entries(hidden)) {
      const { text, gaps } = await readBlocks(parseDocx, noted(body));
      expect([text, gaps]).toEqual(['', [gap]]);
      const kept = await readBlocks(parseDocx, noted(body), { hiddenText: 'keep' });
      expect(kept.text).toBe('[1]\n\n[1] words\n\n');
    }
    const small = await readBlocks(parseDocx, noted(reference('<w:sz w:val="2"/>')));
    expect(small.text).toBe('[1] words\n\n');
  });

  test('is the mark of a list whose level hides it', async () => {
    const level = (number: number, look: string): string =>
      `<w:lvl w:ilvl="${String(number)}"><w:lvlText w:val="%${String(number + 1)}."/><w:rPr>${look}</w:rPr></w:lvl>`;
    const item = (number: number): string =>
      paragraph(words(''), `<w:numPr><w:ilvl w:val="${String(number)}"/><w:numId w:val="1"/></w:numPr>`);
    const bytes = officePackage({
      parts: {
        'word/document.xml': root('w:document', `<w:body>${item(0)}${item(1)}</w:body>`),
        'word/numbering.xml': root(
          'w:numbering',
          `<w:abstractNum w:abstractNumId="0">${level(0, '<w:vanish/>')}${level(1, '')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`,
        ),
      },
      relations: { 'word/document.xml': [['n', 'numbering', 'numbering.xml']] },
    });
    const { text, gaps } = await readBlocks(parseDocx, bytes);
    expect(text).toBe('words\n  1. words\n\n');
    expect(gaps).toEqual(['hidden: 2 characters of hidden text were left out.']);
    const kept = await readBlocks(parseDocx, bytes, { hiddenText: 'keep' });
    expect(kept.text).toBe('1. words\n  1. words\n\n');
  });

  test('is not the lettering of a shape, whatever the look of the run that holds it', async () => {
    const lettering = '<a:p><a:r><a:t>words</a:t></a:r></a:p>';
    const body = paragraph(`<w:r><w:rPr>${WHITE}</w:rPr><w:drawing>${lettering}</w:drawing></w:r>`);
    expect((await readBlocks(parseDocx, word({ body }))).text).toBe('words\n\n');
  });

  test('is not behind a drawing that UTF-16 tells of', async () => {
    const document = root('w:document', `<w:body>${paragraph(words(WHITE)) + paragraph(anchored)}</w:body>`);
    const bytes = officePackage({
      parts: { 'word/document.xml': Buffer.from(`\ufeff${document.replace('UTF-8', 'UTF-16')}`, 'utf16le') },
    });
    expect((await readBlocks(parseDocx, bytes)).text).toContain('words');
  });

  test('is not at the head of pages where a shape lies behind it', async () => {
    const head = (shape: string) =>
      officePackage({
        parts: {
          'word/document.xml': root('w:document', '<w:body/>'),
          'word/header1.xml': root('w:hdr', paragraph(words(WHITE)) + paragraph(`<w:r>${shape}</w:r>`)),
        },
        relations: { 'word/document.xml': [['h1', 'header', 'header1.xml']] },
      });
    const banner = '<w:pict><v:rect style="position:absolute;z-index:-251658240"/></w:pict>';
    const picture = '<w:drawing><wp:anchor behindDoc="0"/></w:drawing>';
    for (const shape of [banner, picture])
      expect((await readBlocks(parseDocx, head(shape))).text).toContain('words');
    expect((await readBlocks(parseDocx, head(''))).text).not.toContain('words');
  });
});
