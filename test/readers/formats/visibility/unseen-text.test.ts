import { expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import { drawPdf, line } from '../../../support/drawn-pdf.js';
import { officePackage, root } from '../../../support/office-packages.js';
import {
  box,
  cell,
  cellLook,
  file,
  look,
  master,
  odp as presentation,
  photo,
  sheet,
  slide,
  style,
  textBox,
  type Parts,
} from '../../../support/open-document-looks.js';
import { expectUnseen, hiddenOf } from '../../../support/unseen-text.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { picture, rgb, shape, slideFile } from '../../../support/slide-file.js';
import { text, workbook, type Sheet } from '../../../support/workbooks.js';

// Each writer makes a file of a word that is seen and of a word that may not be.

const html = (markup: string): string => `<p>Shown</p>${markup}`;
const styled = (css: string): string => html(`<p style="${css}">Canary</p>`);
const mail = (page: string): string =>
  `Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${page}\r\n`;
const book = (page: string): Uint8Array =>
  zipSync({
    'META-INF/container.xml': strToU8(
      '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
    ),
    'a.opf': strToU8(
      '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
    ),
    'a.xhtml': strToU8(`<html><body>${page}</body></html>`),
  });

const docx = (body: string, comments = ''): Uint8Array =>
  officePackage({
    parts: {
      'word/document.xml': root(
        'w:document',
        `<w:body><w:p><w:r><w:t>Shown</w:t></w:r></w:p>${body}</w:body>`,
      ),
      'word/comments.xml': root('w:comments', comments),
    },
    relations: {
      '': [['rId1', 'officeDocument', 'word/document.xml']],
      'word/document.xml': [['c1', 'comments', 'comments.xml']],
    },
  });
const run = (properties: string, content = '<w:t>Canary</w:t>'): string =>
  `<w:r><w:rPr>${properties}</w:rPr>${content}</w:r>`;
const word = (properties: string, ofParagraph = ''): Uint8Array =>
  docx(`<w:p><w:pPr>${ofParagraph}</w:pPr>${run(properties)}</w:p>`);
const BOX = '<w:txbxContent><w:p><w:r><w:t>Canary</w:t></w:r></w:p></w:txbxContent>';
const inDrawing = (properties: string, ofShape = ''): string =>
  `<w:drawing><wp:inline>${properties}<a:graphic><a:graphicData><wps:wsp>${ofShape}<wps:txbx>${BOX}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing>`;
const comment = '<w:comment w:id="1"><w:p><w:r><w:t>Canary</w:t></w:r></w:p></w:comment>';

const pptx = (shapes: string, background = ''): Uint8Array =>
  slideFile({ shapes: shape('Shown', { at: [600, 100, 200, 50] }) + shapes, background });
const paint = (digits: string, alpha = ''): string =>
  `<a:solidFill><a:srgbClr val="${digits}">${alpha}</a:srgbClr></a:solidFill>`;
const black = `<p:bg><p:bgPr>${rgb('000000')}</p:bgPr></p:bg>`;

const CANARY = '<c r="B2" s="1" t="inlineStr"><is><t>Canary</t></is></c>';
interface BookParts extends Partial<Sheet> {
  readonly font?: string;
  readonly fill?: string;
  readonly format?: string;
  readonly second?: string;
  readonly more?: readonly Sheet[];
}
const xlsx = ({ font = '', fill = '', format = '', second, more = [], ...parts }: BookParts): Uint8Array =>
  workbook({
    sheets: [
      {
        name: 'Data',
        ...parts,
        rows: `<row r="1">${text('A1', 'Shown')}</row>${second ?? `<row r="2">${CANARY}</row>`}`,
      },
      ...more,
    ],
    styles: `<numFmts><numFmt numFmtId="200" formatCode="${format}"/></numFmts><fonts><font/><font>${font}</font></fonts><fills><fill/><fill>${fill}</fill></fills><cellXfs><xf/><xf fontId="1" fillId="1" numFmtId="${format === '' ? '0' : '200'}"/></cellXfs>`,
  });
const font = (digits: string): string => `<color rgb="FF${digits}"/>`;
const solid = (digits: string): string =>
  `<patternFill patternType="solid"><fgColor rgb="FF${digits}"/></patternFill>`;

const canary = (parts: Parts): Parts => ({ ...parts, body: parts.body.replaceAll('words', 'Canary') });
const span = '<text:p>Shown <text:span text:style-name="t">Canary</text:span></text:p>';
const shown = '<text:p>Shown</text:p>';
const odt = (body: string, styles = ''): Uint8Array => file('odt', { body, styles });
const spanned = (attributes: string): Uint8Array => odt(span, style('t', 'text', look(attributes)));
const ods = (body: string, styles = ''): Uint8Array => file('ods', { body, styles });
const celled = (properties: string): Uint8Array =>
  ods(sheet(cell('Shown') + cell('Canary', 'table:style-name="c"')), style('c', 'table-cell', properties));
const odp = (shapes: string, attributes = '', of = ''): Uint8Array =>
  file(
    'odp',
    canary(
      presentation(
        slide(
          `<draw:frame draw:style-name="none" ${box(14)}><draw:text-box><text:p>Shown</text:p></draw:text-box></draw:frame>${shapes}`,
          of,
        ),
        style('t', 'text', look(attributes)),
        master(),
      ),
    ),
  );

const rtf = (body: string): string =>
  `{\\rtf1\\ansi{\\colortbl;\\red255\\green255\\blue255;\\red244\\green244\\blue244;\\red233\\green233\\blue233;}Shown ${body}\\par}`;

const pdf = (content: string, resources = ''): Uint8Array =>
  drawPdf({ pages: [{ content: line(60, 700, 'Shown') + content, resources }] });
const drawn = (before: string, size = 12): Uint8Array => pdf(line(60, 600, 'Canary', { before, size }));
const seenThrough = (opacity: string, colour = '0 g'): Uint8Array =>
  pdf(line(60, 600, 'Canary', { before: `/G gs ${colour}`, size: 30 }), `/ExtGState<</G<</ca ${opacity}>>>>`);
/** Lines of a point each, with as much between them. */
const stripes = (colour: string): string =>
  `q ${colour} ${Array.from({ length: 170 }, (_, at) => `${String(60 + 2 * at)} 590 1 40 re`).join(' ')} f Q\n`;
const ground = (colour: string): string => `q ${colour} rg 40 580 400 60 re f Q\n`;

type Table = Readonly<Record<string, Partial<Record<FileFormat, readonly (string | Uint8Array)[]>>>>;

/** By the words of the receipt. */
const UNSEEN: Table = {
  '6 characters of hidden text': {
    html: [
      styled('color: red; DISPLAY:none !important'),
      html('<div hidden><p>Canary</div>'),
      html('<style>/* .y{} */ b, .x { display: none }</style><div class="y x">Canary</div>'),
      html('<style>#a.b{display:none}</style><div id=a class="b">Canary</div>'),
      html('<p style="visibility:hidden">Canary <b style="visibility:visible"></b></p>'),
    ],
    docx: [word('<w:vanish/>')],
    odt: [
      spanned('text:display="none"'),
      odt(`${shown}<text:section text:display="none"><text:p>Canary</text:p></text:section>`),
      odt(
        `${shown}<text:section text:display="condition" text:is-hidden="true"><text:p>Canary</text:p></text:section>`,
      ),
      odt(`${shown}<text:p>Canary <text:hidden-paragraph text:is-hidden="true"/></text:p>`),
      odt('<text:p>Shown <text:hidden-text text:is-hidden="true">Canary</text:hidden-text></text:p>'),
    ],
    rtf: [rtf('{\\v Canary}')],
    pdf: [drawn('3 Tr')],
  },
  '6 characters smaller than 2 points': {
    html: [
      styled('font-size:1px'),
      styled('font-size:0'),
      styled('font-size:1.9pt'),
      // Pixels and shares are turned into points.
      styled('font-size:2px'),
      styled('font-size:.09rem'),
      html('<style>html{font-size:62.5%}</style><p style="font-size:.25rem">Canary</p>'),
      html('<div style="font-size:5pt"><b style="font-size:.3em">Canary</b></div>'),
      html('<div style="font-size:.3em"><b style="font-size:.3em">Canary</b></div>'),
      html('<div style="font-size:calc(1px + 2vw)"><b style="font-size:9%">Canary</b></div>'),
      styled('font-size:0vw'),
      styled('transform:scale(0)'),
    ],
    docx: [word('<w:sz w:val="3"/>')],
    pptx: [pptx(shape('Canary', { run: 'sz="190"' }))],
    xlsx: [xlsx({ font: '<sz val="1.9"/>' })],
    odt: [spanned('fo:font-size="1.9pt"')],
    ods: [celled(look('fo:font-size="1pt"'))],
    odp: [odp(textBox(), 'fo:font-size="1pt"')],
    rtf: [rtf('{\\fs3 Canary}')],
    pdf: [drawn('', 1)],
  },
  '6 transparent characters': {
    html: [
      styled('opacity:0.0'),
      styled('opacity:.05'),
      html('<div style="opacity:3%"><p style="opacity:.9">Canary</p></div>'),
      styled('color:transparent'),
      styled('color:rgba(0,0,0,0)'),
    ],
    docx: [word('<w14:textFill><w14:noFill/></w14:textFill>')],
    pptx: [
      pptx(shape('Canary', { color: '<a:noFill/>' })),
      pptx(shape('Canary', { color: paint('000000', '<a:alpha val="5000"/>') })),
      pptx(shape('Canary', { color: paint('000000', '<a:alpha val="2.5%"/>') })),
    ],
    odt: [spanned('fo:color="#000000" loext:opacity="0%"')],
    ods: [celled(look('fo:color="#000000" loext:opacity="3%"'))],
    pdf: [seenThrough('0.02')],
  },
  '6 characters in the colour of their background': {
    html: [
      styled('color:#FFF'),
      styled('color:#f4f4f4'),
      html('<p><font color=white>Canary</font></p>'),
      html('<div style="background:#123456"><i style="color:rgb(18,52,86)">Canary</i></div>'),
    ],
    docx: [
      word('<w:color w:val="FFFFFF"/>'),
      word('<w:color w:val="F4F4F4"/>'),
      word('<w:color w:val="123456"/>', '<w:shd w:val="clear" w:fill="123456"/>'),
    ],
    pptx: [
      pptx(shape('Canary', { color: rgb('FFFFFF') })),
      pptx(shape('Canary', { color: rgb('F4F4F4') })),
      pptx(shape('Canary', { color: rgb('123456'), fill: rgb('123456') })),
    ],
    xlsx: [
      xlsx({ font: font('FFFFFF') }),
      xlsx({ font: font('F4F4F4') }),
      xlsx({ font: font('123456'), fill: solid('123456') }),
    ],
    odt: [
      spanned('fo:color="#FFFFFF"'),
      spanned('fo:color="#f4f4f4"'),
      spanned('fo:color="#102030" fo:background-color="#102030"'),
    ],
    ods: [
      celled(look('fo:color="#ffffff"')),
      celled(look('fo:color="#f4f4f4"')),
      celled(cellLook('fo:background-color="#102030"') + look('fo:color="#102030"')),
    ],
    odp: [
      odp(textBox(), 'fo:color="#ffffff"'),
      odp(textBox(), 'fo:color="#f4f4f4"'),
      odp(textBox(box(2), 'dark'), 'fo:color="#203040"'),
    ],
    rtf: [rtf('{\\cf1 Canary}'), rtf('{\\cf2 Canary}')],
    pdf: [
      drawn('1 1 1 rg'),
      drawn('0.957 0.957 0.957 rg'),
      pdf(ground('1 0.98 0.95') + line(60, 600, 'Canary', { before: '1 0.98 0.95 rg' })),
      pdf(line(60, 600, 'Canary') + 'q 0 g 58 597 60 12 re f Q\n'),
      seenThrough('0.08', '.5 g'),
      seenThrough('0.12', '.67 g'),
      seenThrough('0.08', '.6 .6 1 rg'),
      pdf(stripes('.94 g') + line(60, 600, 'Canary', { before: '1 g' })),
    ],
  },
  '6 characters off the page': {
    html: [styled('text-indent:-9999px'), styled('position:absolute;left:-5000px')],
    odp: [odp(textBox(box(30)))],
  },
  '1 shape outside of its slide': { pptx: [pptx(shape('Canary', { at: [1200, 100, 200, 50] }))] },
  '6 characters under pictures': { odp: [odp(textBox() + photo(box(1, 12)))] },
  '1 shape under a picture': {
    pptx: [pptx(shape('Canary') + picture('photo', [50, 50, 400, 200]))],
  },
  '1 hidden shape': {
    pptx: [pptx(shape('Canary').replace('<p:cNvPr', '<p:cNvPr hidden="1"'))],
    docx: [
      docx(`<w:p>${run('', inDrawing('<wp:docPr id="1" hidden="1"/>'))}</w:p>`),
      docx(`<w:p>${run('', inDrawing('<wp:docPr id="1"/>', '<wps:cNvPr id="2" hidden="true"/>'))}</w:p>`),
      docx(
        `<w:p>${run('', `<w:pict><v:shape style="width:90pt;VISIBILITY: hidden"><v:textbox>${BOX}</v:textbox></v:shape></w:pict>`)}</w:p>`,
      ),
    ],
  },
  '6 characters that their boxes cut off': { html: [styled('height:0;overflow:hidden')] },
  '6 characters of tracked deletions': {
    docx: [docx(`<w:p><w:del>${run('', '<w:delText>Canary</w:delText>')}</w:del></w:p>`)],
    odt: [
      odt(
        `<text:tracked-changes><text:changed-region><text:deletion><text:p>Canary</text:p></text:deletion></text:changed-region></text:tracked-changes>${shown}`,
      ),
    ],
    rtf: [rtf('{\\deleted Canary}')],
  },
  '6 characters of comments': {
    odt: [odt('<text:p>Shown <office:annotation><text:p>Canary</text:p></office:annotation></text:p>')],
    rtf: [rtf('{\\*\\annotation Canary}')],
  },
  '1 comment': { docx: [docx(`<w:p>${run('', '<w:commentReference w:id="1"/>')}</w:p>`, comment)] },
  '6 characters hidden by their number format': { xlsx: [xlsx({ format: ';;;' })] },
  '6 characters of hidden columns': {
    ods: [
      ods(
        sheet(
          cell('Shown') + cell('Canary'),
          '<table:table-column/><table:table-column table:visibility="collapse"/>',
        ),
      ),
    ],
  },
  '1 hidden column': { xlsx: [xlsx({ before: '<cols><col min="2" max="2" hidden="1"/></cols>' })] },
  '6 characters of hidden rows': {
    ods: [
      ods(
        `<table:table table:name="Data"><table:table-row>${cell('Shown')}</table:table-row><table:table-row table:visibility="collapse">${cell('Canary')}</table:table-row></table:table>`,
      ),
    ],
  },
  '1 hidden row': { xlsx: [xlsx({ second: `<row r="2" hidden="1">${CANARY}</row>` })] },
  '1 hidden sheet': {
    xlsx: [
      xlsx({
        second: '',
        more: [{ name: 'More', state: 'hidden', rows: `<row r="1">${text('A1', 'Canary')}</row>` }],
      }),
    ],
  },
};

const SEEN: Table = {
  'a little darker than white': {
    html: [styled('color:#f2f2f2')],
    docx: [word('<w:color w:val="F2F2F2"/>')],
    pptx: [pptx(shape('Canary', { color: rgb('F2F2F2') }))],
    xlsx: [xlsx({ font: font('F2F2F2') })],
    odt: [spanned('fo:color="#f2f2f2"')],
    ods: [celled(look('fo:color="#f2f2f2"'))],
    odp: [odp(textBox(), 'fo:color="#f2f2f2"')],
    rtf: [rtf('{\\cf3 Canary}')],
    // The edges of drawn letters are lighter.
    pdf: [drawn('0.89 0.89 0.89 rg', 30)],
  },
  'white on black': {
    html: [html('<div style="background:#000"><p style="color:#fff">Canary</p></div>')],
    docx: [word('<w:color w:val="FFFFFF"/>', '<w:shd w:val="clear" w:fill="000000"/>')],
    pptx: [pptx(shape('Canary', { color: rgb('FFFFFF') }), black)],
    xlsx: [xlsx({ font: font('FFFFFF'), fill: solid('000000') })],
    odt: [spanned('fo:color="#ffffff" fo:background-color="#000000"')],
    ods: [celled(cellLook('fo:background-color="#000000"') + look('fo:color="#ffffff"'))],
    odp: [odp(textBox(), 'fo:color="#ffffff"', 'draw:style-name="darkPage"')],
    rtf: [rtf('{\\cf1\\chcbpat3 Canary}')],
    pdf: [pdf(ground('0 0 0') + line(60, 600, 'Canary', { before: '1 1 1 rg' }))],
  },
  'of two points': {
    html: [
      styled('font-size:2pt'),
      styled('font-size:2.7px'),
      html('<div style="font-size:1pt"><b style="font-size:9em">Canary</b></div>'),
      // Scripts may set the size of the root.
      styled('font-size:.1rem'),
      html('<p style="font-size:.12rem"><sup style="font-size:75%">Canary</sup></p>'),
      html('<style>html{font-size:100px}body{font-size:.14rem}</style><body><p>Canary</p></body>'),
      html('<style>html{font-size:100px}p{font-size:.04rem}</style><p>Canary</p>'),
      html('<style>html{font-size:625%}p{font-size:.16rem}</style><p>Canary</p>'),
      '<html style="font-size:625%"><body><p>Shown</p><p style="font:.05rem Arial">Canary</p></body></html>',
      html('<div style="font-size:10vw"><b style="font-size:.1em">Canary</b></div>'),
      html('<div style="font-size:calc(1px + 9vw)"><b style="font-size:.2ex">Canary</b></div>'),
      // A number alone is no size.
      styled('font-size:1'),
    ],
    docx: [word('<w:sz w:val="4"/>')],
    pptx: [pptx(shape('Canary', { run: 'sz="200"' }))],
    xlsx: [xlsx({ font: '<sz val="2"/>' })],
    odt: [spanned('fo:font-size="2pt"')],
    ods: [celled(look('fo:font-size="2pt"'))],
    odp: [odp(textBox(), 'fo:font-size="2pt"')],
    rtf: [rtf('{\\fs4 Canary}')],
    pdf: [drawn('', 3)],
  },
  'of a tenth of opacity': {
    html: [styled('opacity:.1'), styled('color:rgba(0,0,0,.1)')],
    pptx: [pptx(shape('Canary', { color: paint('000000', '<a:alpha val="10000"/>') }))],
    pdf: [seenThrough('0.1'), seenThrough('0.14', '0 0 1 rg')],
  },
};

interface Row {
  readonly kind: string;
  readonly format: FileFormat;
  readonly content: string | Uint8Array;
}

/** Mails and books hold HTML. */
const rowsOf = (table: Table): Row[] =>
  Object.entries(table).flatMap(([kind, files]) => [
    ...Object.entries(files).flatMap(([format, contents]) =>
      // @NOTE The keys of a record are known to be formats.
      contents.map((content) => ({ kind, format: format as FileFormat, content })),
    ),
    ...(files.html ?? []).slice(0, 1).flatMap((page) => [
      { kind, format: 'eml' as const, content: mail(String(page)) },
      { kind, format: 'epub' as const, content: book(String(page)) },
    ]),
  ]);

/** Formats in whose files nothing else is. */
const ALONE: ReadonlySet<FileFormat> = new Set(['html', 'docx', 'odt', 'rtf']);

test.each(rowsOf(UNSEEN))(
  '$kind: left out of $format and counted, read, or both',
  async ({ kind, format, content }) => {
    const text = await expectUnseen(format, content, kind);
    if (ALONE.has(format)) expect(text).toBe('Shown\n\n');
  },
);

test.each(rowsOf(SEEN))('text that is $kind is read in $format', async ({ format, content }) => {
  const { text: read, gaps } = await readBlocks(format, content);
  expect(read).toContain('Canary');
  expect(hiddenOf(gaps)).toEqual([]);
});

test.each([
  ['docx', docx(`<w:p>${run('<w:vanish/>', '<w:t xml:space="preserve"> 😀😀 </w:t>')}</w:p>`)],
  ['odt', odt('<text:p>Shown<text:hidden-text text:is-hidden="true"> 😀😀 </text:hidden-text></text:p>')],
  ['html', html('<p hidden> 😀😀 </p>')],
] as const)('characters of %s are counted as people count them', async (format, content) => {
  expect((await readBlocks(format, content)).gaps).toEqual([
    'hidden: 2 characters of hidden text were left out.',
  ]);
});

test('a page of a PDF names each reason why text of it is not seen', async () => {
  const content = line(60, 600, 'Canary', { size: 1 }) + line(60, 500, 'hidden', { before: '1 1 1 rg' });
  const { receipt } = await readBlocks('pdf', pdf(content));
  expect(receipt.gaps.map(({ detail, location }) => [detail, location?.pages?.first])).toEqual([
    ['6 characters smaller than 2 points were left out.', 1],
    ['6 characters in the colour of their background were left out.', 1],
  ]);
});
