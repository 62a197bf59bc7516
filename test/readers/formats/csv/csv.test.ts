import { describe, expect, test } from '@jest/globals';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const LONG = 'How often in the seventy years before the last census of the town';
const read = (csv: string) => readBlocks('csv', csv);

describe('CSV', () => {
  test('is a table in which a cell is found by the names of its row and column', async () => {
    const { blocks, text } = await read('Fruit;Price;Note\nApple;1,20;"two\nlines"\nPear;2,40;a|b\n');
    expect(cellAt(text, 'Pear', 'Price')).toBe('2,40');
    expect(text).toContain('| Apple | 1,20 | two lines |');
    expect(blocks.at(-1)).toEqual({
      text: '| Pear | 2,40 | a\\|b |\n\n',
      row: { header: '| Fruit | Price | Note |\n| --- | --- | --- |\n' },
      place: { row: 3 },
    });
  });

  test.each([
    { names: 'years', csv: 'Country,2019,2020\nPeru,5,6\n', row: 'Peru', column: '2020', cell: '6' },
    { names: 'an empty name', csv: ',Height,Weight\nAnn,1,2\n', row: 'Ann', column: 'Height', cell: '1' },
    { names: 'a long name', csv: `Name,${LONG}\nAnn,9\n`, row: 'Ann', column: LONG, cell: '9' },
  ])(
    'has names of columns with $names, as tables of other formats do',
    async ({ csv, row, column, cell }) => {
      const { blocks, text } = await read(csv);
      expect(cellAt(text, row, column)).toBe(cell);
      expect(blocks[1]?.row?.header).toContain(column);
    },
  );

  test('without names of columns has rows without a header', async () => {
    const { blocks } = await read('1,2\n3,4\n');
    expect(blocks).toEqual([
      { text: '| 1 | 2 |\n', row: { header: '' }, place: { row: 1 } },
      { text: '| 3 | 4 |\n\n', row: { header: '' }, place: { row: 2 } },
    ]);
  });

  test.each([
    ['sep=;\nName;Preis\nApfel;1,50\n'],
    ['"sep=;"\r\nName;Preis\r\nApfel;1,50\r\n'],
    ['\ufeffSEP=|\nName|Preis\nApfel|1,50\n'],
    ['sep=\t\nName\tPreis\nApfel\t1,50\n'],
    ['sep=^\nName^Preis\nApfel^1,50\n'],
    ['sep=;;;\nName;Preis\nApfel;1,50\n'],
  ])('heeds the line that names the delimiter, and does not read it: %j', async (csv) => {
    const { text, blocks } = await read(csv);
    expect(text).toBe('| Name | Preis |\n| --- | --- |\n| Apfel | 1,50 |\n\n');
    expect(blocks.at(-1)?.place).toEqual({ row: 2 });
  });

  test('reads a line that only looks like that', async () => {
    expect((await read('sep=oct,b\n1,2\n')).text).toContain('sep=oct');
    expect((await read('a,b\nsep=;,2\n')).text).toContain('sep=;');
  });

  test('keeps right-to-left and Chinese text', async () => {
    expect((await read('שם,城市\nדנה,東京\n')).text).toBe('| שם | 城市 |\n| --- | --- |\n| דנה | 東京 |\n\n');
  });

  test.each([
    ['id,note\n1,"say \\"hi\\" now"\n2,ok\n', '| 1 | say "hi" now |\n| 2 | ok |'],
    ['id;note\n1;"{\\"a\\": \\"b;c\\"}"\n2;ok\n', '| 1 | {"a": "b;c"} |\n| 2 | ok |'],
    ['path,id\n"C:\\data\\",1\n"C:\\x",2\n', '| C:\\data\\ | 1 |\n| C:\\x | 2 |'],
    ['id,note\n1,"say ""hi"" \\"\n2,ok\n', '| 1 | say "hi" \\ |\n| 2 | ok |'],
  ])(
    'reads quotes behind backslashes as what is quoted, and other backslashes as such: %j',
    async (csv, rows) => {
      const { text, receipt } = await read(csv);
      expect(text.replaceAll('\\\\', '\\')).toContain(rows);
      expect(receipt.gap_count).toBe(0);
    },
  );

  test('with a quote that is not closed keeps everything, and says so', async () => {
    const { text, receipt } = await read('a,b\n1,2\n3,"four\n5,6\n');
    for (const word of ['| 1 | 2 |', '3', 'four', '5,6']) expect(text).toContain(word);
    expect(receipt.gap_counts).toEqual({ unreadable: 1 });
  });

  test('reads the complete rows before a quote that is not closed as rows, whatever their number and length', async () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => (at % 2 === 0 ? `${String(at)},é` : String(at)));
    const { blocks } = await read(`a,b\n${rows.join('\n')}\n3,"four\n5,6\n`);
    expect(blocks.slice(1, 5)).toMatchObject([
      { text: '| 0 | é |\n', place: { row: 2 } },
      { text: '| 1 |  |\n' },
      { text: '| 2 | é |\n' },
      { text: '| 3 |  |\n' },
    ]);
    expect(blocks.slice(-2)).toMatchObject([
      { text: '| 4999 |  |\n\n', place: { row: 5_001 } },
      { text: '3,"four\n5,6\n', place: { row: 5_002 } },
    ]);
  });

  test('does not fill rows up to a header that is much wider', async () => {
    const header = Array.from({ length: 10_000 }, (_, index) => `h${String(index)}`).join(',');
    expect((await read(`${header}\n${'x\n'.repeat(10_000)}`)).text.length).toBeLessThan(500_000);
  });
});
