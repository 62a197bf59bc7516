import { describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import { relationsPart, root } from '../../../support/office-packages.js';
import { box, cell, file, frame, master, odp, slide, white } from '../../../support/open-document-looks.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { shape, slideFile } from '../../../support/slide-file.js';
import { expectUnseen, hiddenOf } from '../../../support/unseen-text.js';
import { text, workbook } from '../../../support/workbooks.js';

// Each file has a word that is seen, and a word in a shape that may not be.

const pptx = (shapes: string): Uint8Array =>
  slideFile({ shapes: shape('Shown', { at: [600, 100, 200, 50] }) + shapes });
const inGroup = (properties: string): string =>
  `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="x" ${properties}/></p:nvGrpSpPr>${shape('Canary')}</p:grpSp>`;

const xlsx = (drawing: string, parts: Record<string, string> = {}): Uint8Array =>
  workbook({
    sheets: [
      {
        name: 'Data',
        rows: `<row r="1">${text('A1', 'Shown')}</row>`,
        relations: [['d1', 'drawing', '../drawings/drawing1.xml']],
      },
    ],
    parts: { 'xl/drawings/drawing1.xml': root('xdr:wsDr', drawing), ...parts },
  });
const words = '<a:p><a:r><a:t>Canary</a:t></a:r></a:p>';
const sheetShape = (properties: string): string =>
  `<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="2" name="x" ${properties}/></xdr:nvSpPr><xdr:txBody>${words}</xdr:txBody></xdr:sp>`;
const chart = (properties: string): Uint8Array =>
  xlsx(
    `<xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr id="2" ${properties}/></xdr:nvGraphicFramePr><a:graphic><a:graphicData><c:chart r:id="c1"/></a:graphicData></a:graphic></xdr:graphicFrame>`,
    {
      'xl/drawings/_rels/drawing1.xml.rels': relationsPart([['c1', 'chart', '../charts/chart1.xml']]),
      'xl/charts/chart1.xml': root(
        'c:chartSpace',
        `<c:chart><c:title><c:tx><c:rich>${words}</c:rich></c:tx></c:title></c:chart>`,
      ),
    },
  );

const paragraph = (content: string): string => `<text:p>${content}</text:p>`;
const odt = (body: string, styles = ''): Uint8Array =>
  file('odt', { body: paragraph('Shown') + body, styles });
const ods = (drawn: string): Uint8Array =>
  file('ods', {
    body: `<table:table table:name="Data"><table:shapes>${drawn}</table:shapes><table:table-row>${cell('Shown')}</table:table-row></table:table>`,
  });
const inBox = (content: string, attributes: string): string =>
  frame(
    `<draw:text-box>${paragraph(content)}</draw:text-box>`,
    `draw:style-name="none" ${box(2)} ${attributes}`,
  );
const slides = (attributes: string): Uint8Array =>
  file('odp', odp(slide(inBox('Shown', '') + inBox('Canary', attributes)), white, master()));

const rtf = (body: string): string => `{\\rtf1\\ansi Shown ${body}\\par}`;
const HIDDEN = '{\\sp{\\sn fHidden}{\\sv 1}}';
const rtfShape = (properties: string, content: string): string =>
  `{\\shp{\\*\\shpinst\\shpleft0{\\sp{\\sn shapeType}{\\sv 202}}${properties}{\\shptxt ${content}}}{\\shprslt{\\par fallback}}}`;

type Row = readonly [FileFormat, what: string, content: string | Uint8Array];

const UNSEEN: readonly Row[] = [
  ['pptx', 'group', pptx(inGroup('hidden="1"'))],
  ['xlsx', 'shape', xlsx(sheetShape('hidden="1"'))],
  [
    'xlsx',
    'group',
    xlsx(
      `<xdr:grpSp><xdr:nvGrpSpPr><xdr:cNvPr id="1" hidden="1"/></xdr:nvGrpSpPr>${sheetShape('')}</xdr:grpSp>`,
    ),
  ],
  ['xlsx', 'chart', chart('hidden="true"')],
  ['odt', 'frame', odt(inBox('Canary', 'draw:display="none"'))],
  [
    'odt',
    'table in a frame',
    odt(
      inBox('', 'draw:display="none"').replace(
        '<text:p></text:p>',
        `<table:table><table:table-row>${cell('Canary')}</table:table-row></table:table>`,
      ),
    ),
  ],
  [
    'odt',
    'group that is only printed',
    odt(`<draw:g drawooo:display="printer">${inBox('Canary', '')}</draw:g>`),
  ],
  [
    'odt',
    'shape on a layer that is not displayed',
    odt(inBox('Canary', 'draw:layer="ghosts"'), '<draw:layer draw:name="ghosts" draw:display="none"/>'),
  ],
  ['ods', 'shape', ods(`<draw:rect draw:display="none">${paragraph('Canary')}</draw:rect>`)],
  ['odp', 'shape', slides('drawooo:display="none"')],
  ['rtf', 'shape', rtf(rtfShape(HIDDEN, 'Canary'))],
  [
    'rtf',
    'group of shapes',
    rtf(`{\\shpgrp{\\*\\shpinst${HIDDEN}${rtfShape('', 'Canary\\par {\\b more}')}}}`),
  ],
];

const SEEN: readonly Row[] = [
  ['pptx', 'group', pptx(inGroup('hidden="0"'))],
  ['xlsx', 'shape', xlsx(sheetShape('hidden="0"'))],
  ['xlsx', 'chart', chart('')],
  ['odt', 'frame that is not printed', odt(inBox('Canary', 'draw:display="screen"'))],
  [
    'odt',
    'shape on no layer, with one that is not displayed and has no name',
    odt(inBox('Canary', ''), '<draw:layer draw:display="none"/>'),
  ],
  ['odp', 'shape', slides('drawooo:display="always"')],
  ['rtf', 'shape', rtf(rtfShape('{\\sp{\\sn fHidden}{\\sv 0}}', 'Canary'))],
  ['rtf', 'body, where no property of a shape counts', rtf(`${HIDDEN} Canary`)],
];

const ALONE: ReadonlySet<FileFormat> = new Set(['odt', 'rtf']);

describe('text of a shape', () => {
  test.each(UNSEEN)('that is not shown is left out of %s with it: %s', async (format, _, content) => {
    const shown = await expectUnseen(format, content, '1 hidden shape');
    if (ALONE.has(format)) expect(shown).toBe('Shown\n\n');
  });

  test('that is not shown is left out of RTF with the choice of a form', async () => {
    const list = '{\\*\\formfield{\\fftype2\\ffres0{\\*\\ffl Canary}}}';
    const field = `{\\field{\\*\\fldinst{ FORMDROPDOWN ${list}}}{\\fldrslt }}`;
    expect((await readBlocks('rtf', rtf(field))).text).toBe('Shown Canary\n\n');
    await expectUnseen('rtf', rtf(rtfShape(HIDDEN, field)), '1 hidden shape');
  });

  test('that is hidden itself in a hidden group ends with the group', async () => {
    const group = `{\\shpgrp{\\*\\shpinst${HIDDEN}${rtfShape(HIDDEN, 'Canary')}}}`;
    const { text, gaps } = await readBlocks('rtf', `{\\rtf1\\ansi ${group}Shown\\par}`);
    expect(text).toBe('Shown\n\n');
    expect(hiddenOf(gaps)).toEqual(['hidden: 1 hidden shape was left out.']);
  });

  test.each(SEEN)('that is shown is read in %s: %s', async (format, _, content) => {
    const { text: read, gaps } = await readBlocks(format, content);
    expect(read).toContain('Canary');
    expect(hiddenOf(gaps)).toEqual([]);
  });
});
