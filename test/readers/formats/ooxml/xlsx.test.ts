import { describe, expect, test } from '@jest/globals';
import type { ReadOptions } from '../../../../src/readers/read-options.js';
import { parseXlsx } from '../../../../src/readers/formats/ooxml/xlsx.js';
import { relationsPart, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { grid, number, SPACE, text, workbook, type Book, type Sheet } from '../../../support/workbooks.js';

const read = (bytes: Uint8Array, options: Partial<ReadOptions> = {}) => readBlocks(parseXlsx, bytes, options);
const readRows = async (rows: string, more: Partial<Book> = {}, sheet: Partial<Sheet> = {}) =>
  await read(workbook({ sheets: [{ name: 'Data', rows, ...sheet }], ...more }));

describe('sheets', () => {
  test('are parts in the order of their tabs, and say in which row each line stands', async () => {
    const { blocks, receipt } = await read(
      workbook({
        sheets: [
          { name: 'One', rows: grid([['Name', 'Age'], ['Ann', 42], [], ['Bob', 7]]) },
          { name: 'Two', rows: grid([['alone']]) },
          { name: 'Three', rows: '' },
        ],
      }),
    );
    expect(blocks.map(({ text: line, place, isPart, heading }) => [line, place, isPart, heading])).toEqual([
      ['One\n\n', { sheet: 'One' }, true, 1],
      ['| Name | Age |\n| --- | --- |\n', { sheet: 'One', row: 1 }, undefined, undefined],
      ['| Ann | 42 |\n', { sheet: 'One', row: 2 }, undefined, undefined],
      ['| Bob | 7 |\n\n', { sheet: 'One', row: 4 }, undefined, undefined],
      ['Two\n\n', { sheet: 'Two' }, true, 1],
      ['alone\n\n', { sheet: 'Two', row: 1 }, undefined, undefined],
    ]);
    expect(receipt).toMatchObject({ unit: 'sheet', parts: 3, parts_read: 3, gap_counts: { empty: 1 } });
  });

  test('let one cell be found by the names of its row and column, in every row', async () => {
    const rows = grid([
      ['Quarterly report'],
      [],
      ['Region', 'Sales', 'Costs'],
      ...Array.from({ length: 50 }, (_, index) => [`Region ${String(index)}`, index * 3, index * 2]),
    ]);
    const { blocks } = await readRows(rows);
    const row = blocks.find(({ text: line }) => line.startsWith('| Region 37 |'));
    const names = row?.row?.header
      .split('\n')[0]
      ?.split(' | ')
      .map((name) => name.replace(/[| ]/g, ''));
    const cells = row?.text.split(' | ').map((cell) => cell.replace(/[|\n]/g, '').trim());
    expect(cells?.[names?.indexOf('Costs') ?? -1]).toBe('74');
    expect(blocks[1]?.text).toBe('Quarterly report\n\n');
  });

  test('repeat merged cells where they help to read a row, and headers of two rows', async () => {
    const { text: written, blocks } = await readRows(
      grid([
        ['Title over all', null, null],
        ['Region', 'Sales', null],
        [null, '2019', '2020'],
        ['North', 1, 2],
        [null, 3, 4],
      ]),
      {},
      {
        after:
          '<mergeCells count="4"><mergeCell ref="A1:C1"/><mergeCell ref="B2:C2"/><mergeCell ref="A2:A3"/><mergeCell ref="A4:A5"/></mergeCells>',
      },
    );
    expect(written).toBe(
      'Data\n\nTitle over all\n\n| Region | Sales | Sales |\n| Region | 2019 | 2020 |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |\n\n',
    );
    expect(blocks.at(-1)?.row?.header).toContain('| Region | 2019 | 2020 |');
  });

  test('of several tables give each its own names', async () => {
    const { blocks } = await readRows(
      grid([['Name', 'Age'], ['Ann', 42], [], ['City', 'People'], ['Bonn', 300]]),
    );
    expect(blocks.at(-1)?.row?.header).toContain('City');
  });

  test('with one cell at the far end have no wide rows and no empty ones', async () => {
    const { text: written } = await readRows(
      `${grid([['Name', 'Age']])}<row r="2">${text('A2', 'Ann')}</row><row r="1048576">${text('XFD1048576', 'far')}</row>`,
    );
    expect(written).toContain('far');
    expect(written.length).toBeLessThan(200);
    const late = Array.from({ length: 2_000 }, (_, index) => [`n${String(index)}`, index]);
    const after = await readRows(
      `${grid([['Name', 'Age'], ...late])}<row r="1048576">${text('XFD1048576', 'far')}</row>`,
    );
    expect(after.text).toContain('|  |  | XFD: far |');
  });
});

describe('cells', () => {
  const FORMATS: readonly (readonly [code: string | number, value: number, shown: string])[] = [
    ['yyyy-mm-dd', 45366, '2024-03-15'],
    ['d/m/yyyy h:mm', 45366.75, '15/3/2024 18:00'],
    ['[$-409]mmmm d, yyyy;@', 45366, 'March 15, 2024'],
    ['h:mm AM/PM', 0.5, '12:00 PM'],
    ['[h]:mm:ss', 1.5, '36:00:00'],
    ['mm:ss.0', 0.000011574, '00:01.0'],
    ['yyyy-mm-dd', 60, '1900-02-29'],
    ['yyyy-mm-dd', 1, '1900-01-01'],
    [14, 45366, '2024-03-15'],
    ['0.0%', 0.1234, '12.3%'],
    [9, 0.5, '50%'],
    ['#,##0.00', 1234567.891, '1,234,567.89'],
    ['#,##0.00 [$€-407]', 1234.5, '1,234.50 €'],
    ['"$"#,##0;[Red]("$"#,##0)', -1234, '($1,234)'],
    [44, 0, '$-'],
    [44, -5, '$(5.00)'],
    ['0.00', 1.005, '1.01'],
    ['0.00', -0.001, '0.00'],
    ['0.##', 2.5, '2.5'],
    ['000-0000', 5551234, '555-1234'],
    ['00000', 42, '00042'],
    ['0.00E+00', 12345, '1.23E+04'],
    ['0.0,,"M"', 12_300_000, '12.3M'],
    ['[<1]"low";[>=10]"high";0', 12, 'high'],
    ['# ?/?', 0.5, '1/2'],
    ['General', 0.1 + 0.2, '0.3'],
    ['', 42, '42'],
    ['[Red]', 42, '42'],
    ['General', 1234567890123451, '1234567890123451'],
    ['General', 1e-7, '1E-7'],
  ];

  test('show numbers, dates and currencies in their formats', async () => {
    const custom = FORMATS.map(([code], index) =>
      typeof code === 'string'
        ? `<numFmt numFmtId="${String(200 + index)}" formatCode="${code.replace(/"/g, '&quot;').replace(/</g, '&lt;')}"/>`
        : '',
    );
    const cellFormats = FORMATS.map(
      ([code], index) => `<xf numFmtId="${String(typeof code === 'string' ? 200 + index : code)}"/>`,
    );
    const rows = FORMATS.map(
      ([, value], index) =>
        `<row r="${String(index + 1)}">${number(`A${String(index + 1)}`, value, index)}</row>`,
    );
    const { blocks } = await readRows(rows.join(''), {
      styles: `<numFmts>${custom.join('')}</numFmts><cellXfs>${cellFormats.join('')}</cellXfs>`,
    });
    const shown = blocks.slice(1).map(({ text: line }, index) => [FORMATS[index]?.[0], line.trim()]);
    expect(shown).toEqual(FORMATS.map(([code, , expected]) => [code, expected]));
  });

  test('count days from 1904 where the workbook says so', async () => {
    const { text: shown } = await readRows(`<row>${number('A1', 43904, 0)}</row>`, {
      properties: '<workbookPr date1904="1"/>',
      styles: '<cellXfs><xf numFmtId="14"/></cellXfs>',
    });
    expect(shown).toBe('Data\n\n2024-03-15\n\n');
  });

  test('have stored values of formulas, truth values, errors, and texts without readings', async () => {
    const { text: shown, gaps } = await readRows(
      '<row><c r="A1" t="s"><v>0</v></c><c r="B1" t="str"><f>A1&amp;"!"</f><v>joined!</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="e"><v>#N/A</v></c><c r="E1" t="d"><v>2024-03-15T00:00:00</v></c><c r="F1"><f>SUM(A1)</f></c></row>',
      { strings: ['<r><t>To</t></r><r><t>yota_x000A_</t></r><rPh sb="0" eb="1"><t>reading</t></rPh>'] },
    );
    expect(shown).toBe('Data\n\n| Toyota | joined! | TRUE | #N/A | 2024-03-15 |\n\n');
    expect(gaps).toEqual(['skipped: 1 formula without a stored value was left out.']);
  });
});

describe('what nobody sees', () => {
  const styles =
    '<fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><fills><fill/></fills><cellXfs><xf/><xf fontId="1"/></cellXfs>';
  const visible: Sheet = {
    name: 'Seen',
    before: '<cols><col min="3" max="3" hidden="1"/></cols>',
    rows: `<row r="1">${text('A1', 'Name')}${text('B1', 'Age')}${text('C1', 'Salary')}</row><row r="2" hidden="1">${text('A2', 'hidden row')}</row><row r="3">${text('A3', 'Ann')}<c r="B3" s="1" t="inlineStr"><is><t>white</t></is></c></row>`,
    relations: [['c1', 'comments', '../comments1.xml']],
  };
  const bytes = workbook({
    sheets: [visible, { name: 'Secret', rows: grid([['hidden sheet']]), state: 'hidden' }],
    styles,
    parts: {
      'xl/comments1.xml': root(
        'comments',
        '<commentList><comment ref="A3"><text><t>a remark</t></text></comment></commentList>',
        SPACE,
      ),
    },
  });

  test('is left out and named with its sheet', async () => {
    const { text: shown, receipt } = await read(bytes);
    expect(shown).toBe('Seen\n\n| Name | Age |\n| --- | --- |\n| Ann |  |\n\n');
    const location = { sheet: 'Seen' };
    expect(receipt.gaps).toEqual([
      { reason: 'hidden', location, detail: '1 hidden column was left out.' },
      { reason: 'hidden', location, detail: '1 hidden row was left out.' },
      {
        reason: 'hidden',
        location: null,
        detail: '5 characters in the colour of their background were left out.',
      },
      { reason: 'hidden', location: null, detail: '1 comment was left out.' },
      { reason: 'hidden', location: { sheet: 'Secret' }, detail: '1 hidden sheet was left out.' },
    ]);
  });

  test('is read with the option keep, hidden sheets marked', async () => {
    const { text: shown, gaps } = await read(bytes, { hiddenText: 'keep' });
    for (const phrase of ['Salary', 'hidden row', 'white', 'Comment on A3: a remark', 'Secret (hidden)\n\n'])
      expect(shown).toContain(phrase);
    expect(gaps).toEqual([]);
  });
});

test('a sheet keeps its text boxes and the texts of its diagrams', async () => {
  const paragraph = (content: string): string => `<a:p><a:r><a:t>${content}</a:t></a:r></a:p>`;
  const { text: shown } = await read(
    workbook({
      sheets: [
        { name: 'Data', rows: grid([['cell']]), relations: [['d1', 'drawing', '../drawings/drawing1.xml']] },
      ],
      parts: {
        'xl/drawings/drawing1.xml': root(
          'xdr:wsDr',
          `<xdr:sp><xdr:txBody>${paragraph('in a box')}</xdr:txBody></xdr:sp>`,
        ),
        'xl/drawings/_rels/drawing1.xml.rels': relationsPart([
          ['d1', 'diagramData', '../diagrams/data1.xml'],
        ]),
        'xl/diagrams/data1.xml': root(
          'dgm:dataModel',
          `<dgm:ptLst><dgm:pt><dgm:t>${paragraph('Plan')}</dgm:t></dgm:pt></dgm:ptLst>`,
        ),
      },
    }),
  );
  expect(shown).toBe('Data\n\ncell\n\nin a box\n\n- Plan\n\n');
});

test('a table that the file defines has the header that it says', async () => {
  const { blocks } = await read(
    workbook({
      sheets: [
        {
          name: 'Data',
          rows: grid([
            ['x', 5],
            ['y', 6],
            ['Code', 'Count'],
            ['a', 1],
          ]),
          relations: [['t1', 'table', '../tables/table1.xml']],
        },
      ],
      parts: {
        'xl/tables/table1.xml': root(
          'table',
          '<tableColumns><tableColumn/><tableColumn/></tableColumns>',
          `${SPACE} ref="A3:B4"`,
        ),
      },
    }),
  );
  expect(blocks.at(-1)).toMatchObject({
    text: '| a | 1 |\n\n',
    row: { header: '| Code | Count |\n| --- | --- |\n' },
  });
});
