import { expect, test } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { picture, rgb, shape, slideFile, WHOLE } from '../../../support/slide-file.js';
import { SPACE, workbook } from '../../../support/workbooks.js';

const white = '<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>Canary</w:t></w:r></w:p>';
const plain = '<w:p><w:r><w:t>Other text</w:t></w:r></w:p>';
const black = '<w:shd w:val="clear" w:fill="000000"/>';
const banner = (behind: string): string =>
  `<w:p><w:r><w:drawing><wp:anchor xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ${behind}><a:graphic/></wp:anchor></w:drawing></w:r></w:p>`;

function word(body: string, { header = '', styles = '' } = {}): Uint8Array {
  return officePackage({
    parts: {
      'word/document.xml': root('w:document', `<w:body>${body}${plain}</w:body>`),
      'word/styles.xml': root('w:styles', styles),
      'word/header1.xml': root('w:hdr', header),
    },
    relations: {
      '': [['r1', 'officeDocument', 'word/document.xml']],
      'word/document.xml': [
        ['s', 'styles', 'styles.xml'],
        ['h', 'header', 'header1.xml'],
      ],
    },
  });
}

const normal = `<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:pPr>${black}</w:pPr></w:style>`;
const tableLook = `<w:style w:type="table" w:default="1" w:styleId="T"><w:tcPr>${black}</w:tcPr></w:style>`;
const table = (exception = ''): string =>
  `<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid><w:tr>${exception}<w:tc>${white}</w:tc><w:tc>${plain}</w:tc></w:tr></w:tbl>`;

const WORD: Readonly<Record<string, Uint8Array>> = {
  'in a header, on its banner': word('', { header: banner('behindDoc="1"') + white }),
  'on a picture that the header puts behind all pages': word(white, { header: banner('behindDoc="1"') }),
  'on a picture whose place is told by true': word(banner('behindDoc="true"') + white),
  'on a picture whose place is told by on': word(banner('behindDoc="on"') + white),
  'on a picture whose place is in single quotes': word(banner("behindDoc='1'") + white),
  'on a shape of VML': word(
    '<w:p><w:r><w:pict><v:rect style="position:absolute;z-index:-251658240" fillcolor="black"/></w:pict></w:r></w:p>' +
      white,
  ),
  'on the shading of the default style': word(white, { styles: normal }),
  'on the shading of the defaults': word(white, {
    styles: `<w:docDefaults><w:pPrDefault><w:pPr>${black}</w:pPr></w:pPrDefault></w:docDefaults>`,
  }),
  'in a row with a look of its own': word(table(`<w:tblPrEx>${black}</w:tblPrEx>`)),
  'in a table of the default style': word(table(), { styles: tableLook }),
};

test('white text of a Word file after a picture that is not behind it is left out', async () => {
  for (const value of ['0', 'false']) {
    const { text } = await readBlocks('docx', word(banner(`behindDoc="${value}"`) + white));
    expect(text).not.toContain('Canary');
  }
});

test.each(Object.entries(WORD))('white text of a Word file %s is read', async (_name, file) => {
  const { text } = await readBlocks('docx', file);
  expect(text).toContain('Canary');
});

const cells =
  '<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>Canary</t></is></c><c r="B1" t="inlineStr"><is><t>other</t></is></c></row>';
const styles =
  '<fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><fills><fill/></fills><cellXfs><xf/><xf fontId="1" fillId="0"/></cellXfs>';
const rule =
  '<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:conditionalFormattings><x14:conditionalFormatting><x14:cfRule type="expression"/><xm:sqref xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main">A1:B9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>';
const pivot = '<location ref="A1:B9"/><pivotTableStyleInfo name="PivotStyleDark1" showColHeaders="1"/>';

const EXCEL: Readonly<Record<string, Uint8Array>> = {
  'on the picture behind a sheet': workbook({
    sheets: [
      {
        name: 'a',
        rows: cells,
        after: '<picture r:id="p"/>',
        relations: [['p', 'image', '/xl/media/i.png']],
      },
    ],
    styles,
    parts: { 'xl/media/i.png': 'x' },
  }),
  'under a rule of Excel 2010': workbook({ sheets: [{ name: 'a', rows: cells, after: rule }], styles }),
  'in a pivot table': workbook({
    sheets: [{ name: 'a', rows: cells, relations: [['p', 'pivotTable', '/xl/pivotTables/p1.xml']] }],
    styles,
    parts: { 'xl/pivotTables/p1.xml': root('pivotTableDefinition', pivot, SPACE) },
  }),
};

test.each([
  [
    'is read among the fields that choose what the table shows',
    '<pageFields><pageField fld="0"/></pageFields>',
    true,
  ],
  ['is left out where there are none', '', false],
])('white text of an Excel file above a pivot table %s', async (_name, fields, isRead) => {
  const file = workbook({
    sheets: [{ name: 'a', rows: cells, relations: [['p', 'pivotTable', '/xl/pivotTables/p1.xml']] }],
    styles,
    parts: {
      'xl/pivotTables/p1.xml': root('pivotTableDefinition', `<location ref="A5:B9"/>${fields}`, SPACE),
    },
  });
  expect((await readBlocks('xlsx', file)).text.includes('Canary')).toBe(isRead);
});

test.each(Object.entries(EXCEL))('white text of an Excel file %s is read', async (_name, file) => {
  const { text } = await readBlocks('xlsx', file);
  expect(text).toContain('Canary');
});

const photo = picture('photo', WHOLE);
const dark = rgb('000000');
/** Wide enough for its text, so that a picture could cover all of it. */
const corner = { at: [20, 300, 300, 100] } as const;
const inset = '<a:stretch><a:fillRect l="50000" t="0" r="0" b="50000"/></a:stretch></p:blipFill>';
const frame = `<p:graphicFrame><p:xfrm><a:off x="0" y="60"/><a:ext cx="1000" cy="440"/></p:xfrm><a:graphic><a:graphicData uri="t"><a:tbl><a:tblPr>${dark}</a:tblPr><a:tblGrid><a:gridCol/></a:tblGrid><a:tr><a:tc><a:txBody><a:p><a:r><a:rPr>${rgb('FFFFFF')}</a:rPr><a:t>Canary</a:t></a:r></a:p></a:txBody><a:tcPr/></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;

const pale = { color: rgb('FFFFFF') };
const darkBelow = shape('', { fill: dark, at: [100, 200, 200, 200] });
const effectOfTheme = '<p:style><a:effectRef idx="1"/></p:style>';

const SLIDES: Readonly<Record<string, string>> = {
  'that its shape outgrows, over a dark one':
    shape('', { at: [300, 100, 500, 300], fill: dark }) +
    shape('Canary', { at: [299, 100, 1, 1], color: rgb('FFFFFF') }),
  'on a thick line':
    `<p:cxnSp><p:nvCxnSpPr><p:cNvPr id="3" name="x"/></p:nvCxnSpPr><p:spPr><a:xfrm><a:off x="0" y="60"/><a:ext cx="1000" cy="440"/></a:xfrm><a:ln w="9999999">${dark}</a:ln></p:spPr></p:cxnSp>` +
    shape('Canary', { color: rgb('FFFFFF') }),
  'beside what is stretched into a part of its frame':
    shape('Canary', corner) + photo.replace('</p:blipFill>', inset),
  'through soft edges':
    shape('Canary', corner) +
    photo.replace('</p:spPr>', '<a:effectLst><a:softEdge rad="9999999"/></a:effectLst></p:spPr>'),
  'in a table that is filled as a whole': frame,
  'in a place for a text, whose letters may be so large that they reach a dark shape':
    darkBelow + shape('Canary', { ...pale, type: 'body' }),
  'in columns whose width is not followed, over a dark shape':
    darkBelow + shape('Canary', pale).replace('<a:bodyPr/>', '<a:bodyPr numCol="2"/>'),
  'by letters with a depth': shape('Canary', pale).replace('<a:bodyPr/>', '<a:bodyPr><a:sp3d/></a:bodyPr>'),
  'in a shape that is filled with the background': shape('Canary', pale).replace(
    '<p:sp>',
    '<p:sp useBgFill="1">',
  ),
  'on a shape with an effect of the theme':
    shape('', { fill: rgb('FFFFFF'), at: [50, 50, 500, 300], style: effectOfTheme }) + shape('Canary', pale),
};

test.each(Object.entries(SLIDES))('text on a slide %s is read', async (_name, shapes) => {
  const { text } = await readBlocks('pptx', slideFile({ shapes }));
  expect(text).toContain('Canary');
});

test('white text on a slide whose master gives its letters a shadow is read', async () => {
  const place = shape('', { type: 'body' });
  const styles = (effect: string) =>
    `<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2"/><p:txStyles><p:bodyStyle><a:lvl1pPr><a:defRPr>${effect}</a:defRPr></a:lvl1pPr></p:bodyStyle></p:txStyles>`;
  const read = (effect: string) =>
    readBlocks(
      'pptx',
      slideFile({
        shapes: shape('Canary', { color: rgb('FFFFFF'), type: 'body' }),
        master: place,
        map: styles(effect),
      }),
    );
  expect((await read('<a:effectLst><a:outerShdw/></a:effectLst>')).text).toContain('Canary');
  expect((await read('<a:effectLst/>')).text).not.toContain('Canary');
});
