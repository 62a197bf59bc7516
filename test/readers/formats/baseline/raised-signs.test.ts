import { describe, expect, it } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { openDocumentFile } from '../../../support/open-documents.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { shape, slideFile } from '../../../support/slide-file.js';
import { workbook } from '../../../support/workbooks.js';

const up = (size: string, font: string): string =>
  `<w:vertAlign w:val="superscript"/><w:rFonts w:ascii="${font}" w:hAnsi="${font}"/><w:sz w:val="${size}"/>`;
const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const word = (body: string) =>
  officePackage({
    parts: { 'word/document.xml': root('w:document', `<w:body><w:p>${body}</w:p></w:body>`) },
    relations: { '': [['rId1', 'officeDocument', 'word/document.xml']] },
  });
const slide = (runs: string) =>
  slideFile({ shapes: shape('#').replace(/<a:p>.*<\/a:p>/, `<a:p>${runs}</a:p>`) });
const cell = (runs: string) =>
  workbook({
    sheets: [{ name: 'One', rows: `<row r="1"><c r="A1" t="inlineStr"><is>${runs}</is></c></row>` }],
  });

const FILES = {
  html: [
    'html',
    '<p>10<sup><font face="Symbol">-</font>6</sup> and e<sup style="font-family:Symbol">a</sup> and x<font face="Symbol"><sub>b</sub></font></p>',
  ],
  docx: [
    'docx',
    word(
      `${run('10')}${run('-', up('16', 'Symbol'))}${run('6', up('16', 'Arial'))}${run(' and e')}${run('a', up('16', 'Symbol'))}${run(' and x')}<w:r><w:rPr><w:vertAlign w:val="subscript"/></w:rPr><w:sym w:font="Symbol" w:char="F062"/></w:r>`,
    ),
  ],
  pptx: [
    'pptx',
    slide(
      '<a:r><a:rPr/><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"><a:latin typeface="Symbol"/></a:rPr><a:t>-</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r><a:r><a:rPr/><a:t> and e</a:t></a:r><a:r><a:rPr baseline="30000"><a:latin typeface="Symbol"/></a:rPr><a:t>a</a:t></a:r><a:r><a:rPr/><a:t> and x</a:t></a:r><a:r><a:rPr baseline="-25000"><a:sym typeface="Symbol"/></a:rPr><a:t>\uf062</a:t></a:r>',
    ),
  ],
  xlsx: [
    'xlsx',
    cell(
      '<r><t>10</t></r><r><rPr><vertAlign val="superscript"/><rFont val="Symbol"/></rPr><t>-</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r><r><t xml:space="preserve"> and e</t></r><r><rPr><vertAlign val="superscript"/><rFont val="Symbol"/></rPr><t>a</t></r><r><t xml:space="preserve"> and x</t></r><r><rPr><vertAlign val="subscript"/><rFont val="Symbol"/></rPr><t>b</t></r>',
    ),
  ],
  odt: [
    'odt',
    openDocumentFile(
      'text',
      '<text:p>10<text:span text:style-name="us">-</text:span><text:span text:style-name="u">6</text:span> and e<text:span text:style-name="us">a</text:span> and x<text:span text:style-name="d"><text:span text:style-name="s">b</text:span></text:span></text:p>',
      {
        styles:
          '<style:style style:name="u" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>' +
          '<style:style style:name="d" style:family="text"><style:text-properties style:text-position="sub 58%"/></style:style>' +
          '<style:style style:name="s" style:family="text"><style:text-properties fo:font-family="Symbol"/></style:style>' +
          '<style:style style:name="us" style:family="text"><style:text-properties fo:font-family="Symbol" style:text-position="super 58%"/></style:style>',
      },
    ),
  ],
  rtf: [
    'rtf',
    Buffer.from(
      '{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset2 Symbol;}}10{\\super\\f1 -}{\\super 6} and e{\\super\\f1 a} and x{\\sub{\\f1 b}}\\par}',
    ),
  ],
} as const;

describe.each(Object.entries(FILES))(
  'signs of symbol fonts that are raised in %s',
  (_name, [format, file]) => {
    it('are read as the signs, raised', async () => {
      const { text } = await readBlocks(format, file);
      expect(text).toContain('10⁻⁶ and e^α and x_β');
    });
  },
);
