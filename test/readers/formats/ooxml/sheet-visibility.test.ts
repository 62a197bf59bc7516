import { describe, expect, test } from '@jest/globals';
import { parseXlsx } from '../../../../src/readers/formats/ooxml/xlsx.js';
import { root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { SPACE, workbook, type Sheet } from '../../../support/workbooks.js';

interface CellParts {
  readonly font?: string;
  readonly fill?: string;
  readonly format?: string;
  /** The content of the cell in place of a text. */
  readonly value?: string;
  readonly strings?: readonly string[];
  /** The content before the rows. */
  readonly before?: string;
  /** Attributes of the row. */
  readonly row?: string;
  readonly after?: string;
  readonly relations?: Sheet['relations'];
  readonly styles?: string;
  /** The attributes by which the style of the cell applies its font and its fill. */
  readonly apply?: string;
}

const words = '<c r="B2" s="1" t="inlineStr"><is><t>words</t></is></c>';

/** A workbook with one cell of one style. */
function book({
  font = '',
  fill = '',
  format = '',
  styles = '',
  apply = '',
  ...parts
}: CellParts): Uint8Array {
  const { value = words, before = '', row = '', after = '', relations = [] } = parts;
  const codes = format === '' ? '' : `<numFmts><numFmt numFmtId="200" formatCode="${format}"/></numFmts>`;
  const colors = ['lt1', 'FFFFFF', 'dk1', '000000', 'lt2', 'EEECE1', 'dk2', '1F497D'];
  const scheme = [0, 2, 4, 6].map(
    (at) => `<a:${colors[at] ?? ''}><a:srgbClr val="${colors[at + 1] ?? ''}"/></a:${colors[at] ?? ''}>`,
  );
  return workbook({
    sheets: [{ name: 'Data', before, rows: `<row r="2" ${row}>${value}</row>`, after, relations }],
    strings: parts.strings ?? [],
    styles: `${codes}<fonts><font/><font>${font}</font></fonts><fills><fill/><fill>${fill}</fill><fill>${solid('rgb="FF000000"')}</fill></fills><cellStyleXfs><xf fontId="0" fillId="2"/></cellStyleXfs><cellXfs><xf/><xf fontId="1" fillId="1" numFmtId="${format === '' ? '0' : '200'}" ${apply}/><xf fillId="2"/></cellXfs>${styles}`,
    parts: {
      'xl/theme/theme1.xml': root(
        'a:theme',
        `<a:themeElements><a:clrScheme>${scheme.join('')}</a:clrScheme></a:themeElements>`,
      ),
      'xl/tables/table1.xml': root('table', '', `${SPACE} ref="A1:C3"`),
    },
  });
}

const WHITE = '<color rgb="FFFFFFFF"/>';
const solid = (color: string): string => `<patternFill patternType="solid"><fgColor ${color}/></patternFill>`;
const number = '<c r="B2" s="1"><v>31337</v></c>';
const shared = '<c r="B2" s="1" t="s"><v>0</v></c>';
const run = (text: string, properties: string): string => `<r><rPr>${properties}</rPr><t>${text}</t></r>`;

const HIDDEN: readonly (readonly [string, CellParts])[] = [
  ['the first colour of the theme', { font: '<color theme="0"/>' }],
  ['white by its index', { font: '<color indexed="9"/>' }],
  [
    'white by an index of its own',
    {
      font: '<color indexed="0"/>',
      styles: '<colors><indexedColors><rgbColor rgb="00FFFFFF"/></indexedColors></colors>',
    },
  ],
  [
    'of the colour of its fill, as the theme has it',
    { font: '<color theme="3"/>', fill: solid('rgb="FF1F497D"') },
  ],
  ['in a row without height', { row: 'ht="0" customHeight="1"' }],
  ['in a column without width', { before: '<cols><col min="1" max="3" width="0" customWidth="1"/></cols>' }],
  [
    'in hidden columns, merged with the next of them',
    {
      before: '<cols><col min="1" max="3" hidden="1"/></cols>',
      after: '<mergeCells><mergeCell ref="B2:C2"/></mergeCells>',
    },
  ],
  ['white beside an empty cell of the same look', { font: WHITE, value: `${words}<c r="C2" s="1"/>` }],
  ['white in a style that applies its own look', { font: WHITE, apply: 'applyFont="1" applyFill="1"' }],
  ['in a run that is white', { value: shared, strings: [run('words', WHITE) + run('seen', '')] }],
];

const SEEN: readonly (readonly [string, CellParts])[] = [
  [
    'in a section for texts that shows them in general',
    { format: '[&gt;25]0;0;0;General', value: shared, strings: ['<t>words</t>'] },
  ],
  ['white on a fill of the theme', { font: WHITE, fill: solid('theme="3"') }],
  ['white on a pattern', { font: WHITE, fill: '<patternFill patternType="gray125"/>' }],
  ['white on a darkened white', { font: WHITE, fill: solid('theme="0" tint="-0.35"') }],
  [
    'white under a rule for the look of cells',
    { font: WHITE, after: '<conditionalFormatting sqref="A1 B2:B9"><cfRule/></conditionalFormatting>' },
  ],
  [
    'white over a picture of the sheet',
    { font: WHITE, relations: [['p1', 'image', '../tables/table1.xml']] },
  ],
  [
    'white under a rule for whole columns',
    { font: WHITE, after: '<conditionalFormatting sqref="B:B"><cfRule/></conditionalFormatting>' },
  ],
  [
    'white in a pivot table whose place cannot be read',
    { font: WHITE, relations: [['t1', 'pivotTable', '../tables/table1.xml']] },
  ],
  ['white where it may go on over a dark cell', { font: WHITE, value: `${words}<c r="C2" s="2"/>` }],
  ['white in a row that is dark', { font: WHITE, row: 's="2" customFormat="1"' }],
  [
    'white beside a column that is dark',
    { font: WHITE, before: '<cols><col min="3" max="3" style="2"/></cols>' },
  ],
  ['white in a style that does not apply its font', { font: WHITE, apply: 'applyFont="0"' }],
  ['white in a style that does not apply its fill', { font: WHITE, apply: 'applyFill="0"' }],
  [
    'in a hidden row, merged with the next one',
    { row: 'hidden="1"', after: '<mergeCells><mergeCell ref="B2:B3"/></mergeCells>' },
  ],
  [
    'in a hidden column, merged with one that is seen',
    {
      before: '<cols><col min="2" max="2" hidden="1"/></cols>',
      after: '<mergeCells><mergeCell ref="B2:C2"/></mergeCells>',
    },
  ],
  ['in a row with a height that is not told', { row: 'customHeight="1"' }],
  ['in a row that is there where others are hidden', { before: '<sheetFormatPr zeroHeight="1"/>' }],
  ['white in a table', { font: WHITE, relations: [['t1', 'table', '../tables/table1.xml']] }],
  [
    'in a dark run of a white cell',
    { font: WHITE, value: shared, strings: [run('words', '<color rgb="FF000000"/>')] },
  ],
];

describe('cells that nobody sees', () => {
  test.each(HIDDEN)('are left out and named: %s', async (_, parts) => {
    const { text, receipt } = await readBlocks(parseXlsx, book(parts));
    expect(text).not.toContain('words');
    expect(receipt.gap_counts.hidden).toBe(1);
    const kept = await readBlocks(parseXlsx, book(parts), { hiddenText: 'keep' });
    expect(kept.text).toContain('words');
    expect(kept.receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test.each(SEEN)('are not: %s', async (_, parts) => {
    const { text, receipt } = await readBlocks(parseXlsx, book(parts));
    expect(text).toContain('words');
    expect(receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test('are those whose number format shows nothing, be it of a number or a text', async () => {
    for (const [value, shown] of [
      [number, '31337'],
      [shared, 'words'],
      [words, 'words'],
    ] as const) {
      const bytes = book({ format: ';;;', value, strings: ['<t>words</t>'] });
      const { text, receipt } = await readBlocks(parseXlsx, bytes);
      expect(text).toBe('');
      expect(receipt.gaps).toContainEqual({
        reason: 'hidden',
        location: null,
        detail: '5 characters hidden by their number format were left out.',
      });
      expect((await readBlocks(parseXlsx, bytes, { hiddenText: 'keep' })).text).toContain(shown);
    }
  });

  test('are not zeros that a format leaves out', async () => {
    const { receipt } = await readBlocks(
      parseXlsx,
      book({ format: '0;-0;', value: '<c r="B2" s="1"><v>0</v></c>' }),
    );
    expect(receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test('are those whose number format makes them white, unless it gives white ones a colour', async () => {
    const white = await readBlocks(parseXlsx, book({ format: '[White]0', value: number }));
    expect(white.receipt.gap_counts.hidden).toBe(1);
    const red = await readBlocks(parseXlsx, book({ format: '[Red]0', font: WHITE, value: number }));
    expect(red.text).toContain('31337');
    const blue = await readBlocks(parseXlsx, book({ format: '[Blue];0', value: number }));
    expect(blue.text).toContain('31337');
  });
});
