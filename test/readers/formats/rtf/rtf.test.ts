import { describe, expect, test } from '@jest/globals';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const HEAD =
  '{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fcharset0 Times;}{\\f1\\fcharset204 Times Cyr;}{\\f2\\fcharset128 Mincho;}{\\f3\\fcharset178 Arabic;}}{\\colortbl;\\red255\\green255\\blue255;\\red1\\green2\\blue3;}{\\stylesheet{\\s1\\outlinelevel0 heading 1;}}';
const rtf = (body: string): Buffer => Buffer.from(`${HEAD}${body}}`, 'latin1');
const read = (body: string) => readBlocks('rtf', rtf(body));

describe('RTF', () => {
  test('has paragraphs, and headings by their style or level', async () => {
    const { blocks } = await read(
      '\\pard\\s1 Title\\par\\pard First\\line second\\emdash{\\b bold}\\par\\pard\\outlinelevel2 Deep\\par',
    );
    expect(blocks).toEqual([
      { text: 'Title\n\n', heading: 1 },
      { text: 'First\nsecond—bold\n\n' },
      { text: 'Deep\n\n', heading: 3 },
    ]);
  });

  test('is decoded by its fonts, and by Unicode with what stands in for it left out', async () => {
    const { text } = await read(
      "Gr\\'f6\\'dfe \\f1\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2 \\f2\\'93\\'fa\\'96\\'7b \\f3\\'d3\\'e1\\'c7\\'e3 \\f0\\u8364?5 {\\uc2\\u26085\\'93\\'fa}\\u-10179?\\u-8704? \\{x\\}\\~y\\par",
    );
    expect(text).toBe('Größe Привет 日本 سلام €5 日😀 {x} y\n\n');
  });

  test('makes rows a table, in which a cell is found by the names of its row and column', async () => {
    const row = (...cells: string[]): string =>
      `\\trowd\\cellx1000\\cellx2000\\pard\\intbl ${cells.map((cell) => `${cell}\\cell `).join('')}\\row`;
    const { blocks, text } = await read(
      `before\\par${row('Fruit', 'Price')}${row('Apple', '1\\par 20')}${row('Pear', '2')}\\pard after\\par`,
    );
    expect(cellAt(text, 'Apple', 'Price')).toBe('1 20');
    expect(text).toBe(
      'before\n\n| Fruit | Price |\n| --- | --- |\n| Apple | 1 20 |\n| Pear | 2 |\n\nafter\n\n',
    );
    expect(blocks.find((block) => block.text.includes('Pear'))?.row?.header).toContain('| Fruit | Price |');
  });

  test('repeats cells that are merged downwards', async () => {
    const merged =
      '\\trowd\\clvmgf\\cellx1\\cellx2\\pard\\intbl 2019\\cell 5\\cell\\row\\trowd\\clvmrg\\cellx1\\cellx2\\pard\\intbl\\cell 6\\cell\\row';
    expect((await read(merged)).text).toBe('| 2019 | 5 |\n| 2019 | 6 |\n\n');
  });

  test.each([
    [
      'is merged over columns leaves those behind it in theirs',
      [
        [1000, 2000, 3000],
        [2010, 3000],
        [1000, 3000],
      ],
      '| a0 | a1 | a2 |\n| --- | --- | --- |\n| b0 |  | b1 |\n| c0 | c1 |  |\n\n',
    ],
    [
      'ends where no other one does is not taken for a merged one',
      [
        [1000, 2000, 3000],
        [1500, 3000],
      ],
      '| a0 | a1 | a2 |\n| --- | --- | --- |\n| b0 | b1 |  |\n\n',
    ],
  ])('a cell of a table that %s', async (_, edges, expected) => {
    const rows = edges.map((rights, row) => {
      const cells = rights.map((_right, cell) => `${'abc'.charAt(row)}${String(cell)}\\cell`);
      return `\\trowd${rights.map((right) => `\\cellx${String(right)}`).join('')}\\pard\\intbl ${cells.join(' ')}\\row`;
    });
    expect((await read(rows.join(''))).text).toBe(expected);
  });

  test('keeps the marks of lists and their nesting', async () => {
    const item = (mark: string, level: number, text: string): string =>
      `{\\listtext\\tab ${mark}\\tab}\\pard\\ls1\\ilvl${String(level)} ${text}\\par`;
    expect((await read(item("\\'b7", 0, 'one') + item('1.', 1, 'inner') + '\\pard after\\par')).text).toBe(
      '- one\n  1. inner\n\nafter\n\n',
    );
  });

  test('puts notes after their paragraph and headers of pages at the end, once', async () => {
    const { text } = await read(
      '{\\header Letterhead\\par}{\\headerf Letterhead\\par}Text{\\super\\chftn}{\\footnote {\\super\\chftn}The note.}goes on\\par',
    );
    expect(text).toBe('Text[1] goes on\n\n[1] The note.\n\nLetterhead\n\n');
  });

  test('reads results of fields and text boxes, and leaves out pictures and what is for programs', async () => {
    const { text, receipt } = await read(
      '{\\info{\\title The title}{\\author Nobody}}{\\*\\unknown secret {deep}}{\\field{\\*\\fldinst HYPERLINK "x"}{\\fldrslt link}} {\\shp{\\*\\shpinst{\\sp{\\sn name}{\\sv value}}{\\shptxt boxed}}{\\shprslt double{\\*\\do\\dptxbx{\\dptxbxtext double}}}} {\\*\\do\\dptxbx{\\dptxbxtext older}}{\\pict\\pngblip 89504e47}{\\pict\\bin5 {{{{{}\\par',
    );
    expect(text).toBe('link boxed older\n\n');
    expect(receipt).toMatchObject({
      title: 'The title',
      gaps: [{ reason: 'skipped', detail: '2 pictures are not read.' }],
    });
  });

  test('leaves out text in cells that others cover', async () => {
    const rows =
      '\\trowd\\clvmgf\\cellx1000\\cellx2000\\pard\\intbl above\\cell b\\cell\\row' +
      '\\trowd\\clvmrg\\cellx1000\\cellx2000\\pard\\intbl under\\cell c\\cell\\row' +
      '\\trowd\\clmgf\\cellx1000\\clmrg\\cellx2000\\pard\\intbl wide\\cell right\\cell\\row';
    const { text, gaps } = await read(rows);
    expect(text).toBe('| above | b |\n| --- | --- |\n| above | c |\n| wide |  |\n\n');
    expect(gaps).toEqual(['hidden: 10 characters in cells that others cover were left out.']);
    // A cell that goes on from none above, or begins its row, is shown.
    const alone = await read(
      '\\trowd\\clvmrg\\cellx1000\\clmrg\\cellx2000\\pard\\intbl one\\cell two\\cell\\row',
    );
    expect(alone.text).toContain('one');
  });

  test('white text on a shade is shown', async () => {
    expect(
      (await read('\\pard\\cbpat2{\\cf1 shown}\\par{\\cf1\\highlight2 as well}\\par')).receipt.gap_count,
    ).toBe(0);
  });

  test('that is cut off is read to its end, and what is no RTF fails as corrupt', async () => {
    const whole = rtf('one\\par two\\par');
    expect((await readBlocks('rtf', whole.subarray(0, -6))).text).toContain('one');
    for (let end = HEAD.length; end < whole.length; end += 1) await readBlocks('rtf', whole.subarray(0, end));
    await expect(readBlocks('rtf', '{\\html}')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each([
    ['groups within each other', '{'.repeat(2_000_000) + 'x' + '}'.repeat(2_000_000) + ' after\\par'],
    ['binary data that is not there', '\\bin2147483647 '.repeat(10)],
    ['control words without an end', `\\${'a'.repeat(2_000_000)}`],
    ['cells of one row', `\\trowd\\pard\\intbl${'x\\cell '.repeat(300_000)}\\row`],
    ['characters written one by one', "\\'41".repeat(500_000)],
    ['destinations within each other', '{\\footnote '.repeat(100_000)],
  ])(
    'of very many %s is read in time',
    async (_, body) => {
      await readBlocks('rtf', rtf(body));
    },
    15_000,
  );
});

test('a row of more cells than a table has is read to its last one', async () => {
  const cells = Array.from({ length: 1_100 }, (_, index) => `cell${String(index)}`);
  const row = `\\trowd\\cellx1000\\pard\\intbl ${cells.map((cell) => `${cell}\\cell `).join('')}\\row`;
  const { text } = await readBlocks('rtf', `{\\rtf1 ${row.repeat(2)}}`);
  expect(text.match(/cell\d+/g)).toEqual([...cells, ...cells]);
});
