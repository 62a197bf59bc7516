import { describe, expect, test } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { slideFile } from '../../../support/slide-file.js';
import { text, workbook } from '../../../support/workbooks.js';

interface WordParts {
  readonly styles?: string;
  readonly numbering?: string;
}

const word = (body: string, { styles = '', numbering = '' }: WordParts = {}) =>
  readBlocks(
    'docx',
    officePackage({
      parts: {
        'word/document.xml': root('w:document', `<w:body>${body}</w:body>`),
        'word/styles.xml': root('w:styles', styles),
        'word/numbering.xml': root('w:numbering', numbering),
      },
      relations: {
        '': [['r1', 'officeDocument', 'word/document.xml']],
        'word/document.xml': [
          ['r1', 'styles', 'styles.xml'],
          ['r2', 'numbering', 'numbering.xml'],
        ],
      },
    }),
  );
const run = (content: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${content}</w:t></w:r>`;
const inFont = (font: string): string => `<w:rFonts w:ascii="${font}" w:hAnsi="${font}"/>`;
const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;

describe('signs of a Word file', () => {
  test('are read where they are elements, with or without the private use area', async () => {
    const sign = (font: string, code: string): string =>
      `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`;
    const { text: read, gaps } = await word(
      paragraph(`${sign('Wingdings', 'F0FE')}${run(' Paid by ')}${sign('Symbol', '0061')}`) +
        paragraph(`${sign('MS Gothic', '2612')}${run(' Open')}${sign('Wingdings', 'zzzz')}`),
    );
    expect(read).toBe('☑ Paid by α\n\n☒ Open\n\n');
    expect(gaps).toEqual([]);
  });

  test('are read in runs of a symbol font, by the run, its style or that of the paragraph', async () => {
    const styles =
      `<w:style w:type="character" w:styleId="S"><w:rPr>${inFont('Symbol')}</w:rPr></w:style>` +
      `<w:style w:type="paragraph" w:styleId="P"><w:rPr>${inFont('Wingdings')}</w:rPr></w:style>`;
    const { text: read } = await word(
      paragraph(
        run('Tolerance ') +
          run('\uf0b1', inFont('Symbol')) +
          run('5 mm ') +
          run('a', '<w:rStyle w:val="S"/>'),
      ) + paragraph(run('J', '') + run(' fine', inFont('Calibri')), '<w:pStyle w:val="P"/>'),
      { styles },
    );
    expect(read).toBe('Tolerance ±5 mm α\n\n☺ fine\n\n');
  });

  test('are not looked for beyond the characters that the symbol font is for', async () => {
    const mixed = '<w:rFonts w:ascii="Wingdings" w:hAnsi="Calibri"/>';
    const themed =
      '<w:rFonts w:ascii="Wingdings" w:asciiTheme="minorHAnsi" w:hAnsi="Wingdings" w:hAnsiTheme="minorHAnsi"/>';
    const { text: read } = await word(paragraph(run('Jé\uf04a', mixed)) + paragraph(run('Jay', themed)));
    expect(read).toBe('☺é☺\n\nJay\n\n');
  });

  test('of lists tell what is done', async () => {
    const level = (sign: string, font: string): string =>
      `<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="${sign}"/><w:rPr>${inFont(font)}</w:rPr></w:lvl>`;
    const lists = [level('\uf0b7', 'Symbol'), level('\uf0fe', 'Wingdings'), level('\u00a8', 'Wingdings')];
    const numbering =
      lists
        .map((each, id) => `<w:abstractNum w:abstractNumId="${String(id)}">${each}</w:abstractNum>`)
        .join('') +
      lists
        .map((_, id) => `<w:num w:numId="${String(id)}"><w:abstractNumId w:val="${String(id)}"/></w:num>`)
        .join('');
    const item = (id: number, content: string): string =>
      paragraph(run(content), `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${String(id)}"/></w:numPr>`);
    const { text: read } = await word(item(0, 'plain') + item(1, 'done') + item(2, 'open'), { numbering });
    expect(read).toBe('- plain\n- ☑ done\n- ☐ open\n\n');
  });

  test('beyond the first plane are those that newer versions name', async () => {
    const choice =
      '<mc:AlternateContent><mc:Choice Requires="w16se"><w16se:symEx xmlns:w16se="http://schemas.microsoft.com/office/word/2015/wordml/symex" w16se:font="Segoe UI Emoji" w16se:char="1F60A"/></mc:Choice><mc:Fallback><w:t>?</w:t></mc:Fallback></mc:AlternateContent>';
    expect((await word(paragraph(`${run('Thanks ')}<w:r>${choice}</w:r>`))).text).toBe('Thanks 😊\n\n');
  });

  test('that nobody knows are named', async () => {
    const { text: read, gaps } = await word(paragraph(run('Price ') + run('\uf021', inFont('House Pi'))));
    expect(read).toBe('Price\n\n');
    expect(gaps).toEqual(['garbled: 1 sign of a symbol font whose meaning is not known was left out.']);
  });
});

describe('signs of slides', () => {
  const slide = (body: string): string =>
    `<p:sp><p:nvSpPr><p:cNvPr id="7" name="x"/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>${body}</p:txBody></p:sp>`;

  test('are read in the font of the letters, and in that of symbols where they are private', async () => {
    const body =
      '<a:p><a:r><a:rPr><a:latin typeface="Wingdings"/></a:rPr><a:t>þ</a:t></a:r><a:r><a:t> done </a:t></a:r>' +
      '<a:r><a:rPr><a:latin typeface="Arial"/><a:sym typeface="Wingdings"/></a:rPr><a:t>déjà \uf0e0 vu</a:t></a:r></a:p>';
    const { text: read } = await readBlocks('pptx', slideFile({ shapes: slide(body) }));
    expect(read).toContain('☑ done déjà → vu');
  });

  test('before items tell what is done', async () => {
    const item = (sign: string, font: string, content: string): string =>
      `<a:p><a:pPr><a:buFont typeface="${font}"/><a:buChar char="${sign}"/></a:pPr><a:r><a:t>${content}</a:t></a:r></a:p>`;
    const body =
      item('þ', 'Wingdings', 'done') + item('¨', 'Wingdings', 'open') + item('§', 'Wingdings', 'plain');
    const { text: read } = await readBlocks('pptx', slideFile({ shapes: slide(body) }));
    expect(read).toContain('- ☑ done\n- ☐ open\n- plain');
  });
});

describe('signs of sheets', () => {
  test('are read in cells and in runs of cells', async () => {
    const styles =
      '<fonts><font><name val="Calibri"/></font><font><name val="Wingdings"/></font></fonts><cellXfs><xf fontId="0"/><xf fontId="1" applyFont="1"/></cellXfs>';
    const rich =
      '<c r="B3" t="inlineStr"><is><r><rPr><rFont val="Symbol"/></rPr><t>D</t></r><r><rPr><rFont val="Arial"/></rPr><t xml:space="preserve"> Temp</t></r></is></c>';
    const rows = `<row r="1">${text('A1', 'Task')}${text('B1', 'State')}</row><row r="2">${text('A2', 'Paint')}<c r="B2" s="1" t="str"><v>ü</v></c></row><row r="3">${text('A3', 'Heat')}${rich}</row>`;
    const { text: read } = await readBlocks('xlsx', workbook({ sheets: [{ name: 'S', rows }], styles }));
    expect(read).toContain('| Paint | ✓ |');
    expect(read).toContain('| Heat | Δ Temp |');
  });
});
