import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, line, lines, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** Lines of prose, each of which says its column and number. */
const column = (name: string, count: number, width = 30): string[] =>
  Array.from(
    { length: count },
    (_, index) => `${name}${String(index)} ${'words of prose follow here and on'.slice(0, width)}`,
  );

const orderOf = (text: string, marks: readonly string[]): string[] =>
  marks.toSorted((a, b) => text.indexOf(a) - text.indexOf(b));

describe('the layout of a PDF page', () => {
  test('is read column by column, with titles that cross them in their places', async () => {
    for (const offsets of [
      [0, 0, 0],
      [0, 5, 3],
    ]) {
      const content = [
        line(40, 740, 'A title across all of the columns of this page', { size: 22 }),
        ...['left', 'middle', 'right'].map((name, index) =>
          lines(40 + 185 * index, 700 - (offsets[index] ?? 0), column(name, 40, 24)),
        ),
        line(
          40,
          180,
          'A line below that runs across all of the three columns of the page, from end to end, and on',
        ),
      ].join('');
      const { text, blocks, receipt } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
      expect(receipt.parser).toBe('pdfium');
      const marks = [
        'A title',
        'left0',
        'left39',
        'middle0',
        'middle39',
        'right0',
        'right39',
        'A line below',
      ];
      expect(orderOf(text, marks)).toEqual(marks);
      for (const mark of marks) expect(text).toContain(mark);
      expect(blocks[0]).toMatchObject({ heading: 1, place: { page: 1, boxes: [{}] } });
      const box = blocks[0]?.place?.boxes?.[0];
      expect(box?.x).toBeCloseTo(40, -1);
      // 792 - 740 is the baseline from the top.
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan(50);
      expect(box?.y ?? 0).toBeLessThan(52);
    }
  });

  test('keeps labels and values of a page together that stand side by side', async () => {
    const rows = Array.from({ length: 12 }, (_, index) => index);
    const content = rows
      .map(
        (row) =>
          line(60, 700 - 14 * row, `Label ${String(row)}`) +
          line(300, 700 - 14 * row, `value ${String(row)}`),
      )
      .join('');
    const { text } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
    for (const row of rows)
      expect(text.replace(/[|\s]+/g, ' ')).toContain(`Label ${String(row)} value ${String(row)} `);
  });

  test('takes items of lists for no headings, however large they are', async () => {
    const content =
      line(60, 740, 'Agenda of the keepers', { size: 32 }) +
      line(60, 680, '- Numbers of herons', { size: 24 }) +
      lines(60, 600, column('small', 30));
    const { blocks } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
    const headings = blocks.filter(({ heading }) => heading !== undefined).map(({ text }) => text.trim());
    expect(headings).toEqual(['Agenda of the keepers']);
  });

  test('shows ruled tables as rows of Markdown, the header with each', async () => {
    const grid = [0, 1, 2, 3, 4]
      .map((row) => `60 ${String(700 - 24 * row)} m 460 ${String(700 - 24 * row)} l S\n`)
      .concat([60, 200, 330, 460].map((x) => `${String(x)} 700 m ${String(x)} 604 l S\n`))
      .join('');
    const cells = [
      ['Fruit', 'Colour', 'Price'],
      ['Apple', 'red', '1.20'],
      ['Banana', 'yellow', '0.80'],
      ['Plum', 'blue', '2.10'],
    ];
    const words = cells
      .flatMap((row, index) => row.map((cell, at) => line([66, 206, 336][at] ?? 0, 684 - 24 * index, cell)))
      .join('');
    const prose = lines(60, 560, column('after', 5, 33));
    const { blocks } = await readBlocks(parsePdf, drawPdf({ pages: [{ content: grid + words + prose }] }));
    const rows = blocks.filter(({ row }) => row !== undefined);
    expect(rows.map(({ text }) => text.split('\n')[0])).toEqual([
      '| Fruit | Colour | Price |',
      '| Apple | red | 1.20 |',
      '| Banana | yellow | 0.80 |',
      '| Plum | blue | 2.10 |',
    ]);
    expect(rows[2]?.row?.header).toContain('| Fruit | Colour | Price |');
    expect(rows[2]?.place).toMatchObject({ page: 1, boxes: [{}] });
    expect(blocks.at(-1)?.text).toContain('after4');
  });

  test('leaves out what each page repeats at its edges, but for the first time', async () => {
    const pages = Array.from({ length: 30 }, (_, index) => ({
      content:
        line(60, 760, 'Annual report of the axolotl keepers') +
        lines(60, 700, column(`page${String(index)}line`, 20)) +
        line(300, 30, `Page ${String(index + 1)} of 30`),
    }));
    const { text } = await readBlocks(parsePdf, drawPdf({ pages }));
    expect(text.match(/Annual report/g)).toHaveLength(1);
    expect(text.match(/of 30/g)).toHaveLength(1);
    for (const index of [0, 1, 29]) expect(text).toContain(`page${String(index)}line19`);
  });

  test('keeps lines at the edges that say something else on each page', async () => {
    const says = (index: number) => [
      `Question ${String(index + 1)}`,
      `Page ${String(index)} tells of the axolotl${String(index)}.`,
      `Invoice ${String(1000 + 7 * index)} is paid by the keeper`,
    ];
    const pages = Array.from({ length: 30 }, (_, index) => ({
      content: lines(60, 770, says(index)) + lines(60, 650, column(`page${String(index)}line`, 20)),
    }));
    const { text } = await readBlocks(parsePdf, drawPdf({ pages }));
    for (const index of [0, 1, 17, 29]) for (const said of says(index)) expect(text).toContain(said);
  });

  test('joins words that are hyphenated at line ends', async () => {
    const content = lines(60, 700, [
      'This paragraph ends its first line with a hyphen-',
      'ated word and goes on.',
    ]);
    const { text } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
    expect(text).toContain('a hyphenated word');
  });

  test('reads pages that are turned, with places on the page as it is shown', async () => {
    const words = lines(60, 700, ['The first line of a turned page', 'and its second line']);
    const sideways = '0 1 -1 0 792 0 cm\n';
    const { blocks, text } = await readBlocks(
      parsePdf,
      drawPdf({
        pages: [
          { content: words, entries: '/Rotate 90' },
          { content: words, entries: '/Rotate 180' },
          { content: sideways + words },
        ],
      }),
    );
    expect(text.match(/The first line of a turned page\nand its second line/g)).toHaveLength(3);
    const boxes = blocks.map(({ place }) => place?.boxes?.[0]);
    for (const box of boxes)
      for (const value of Object.values(box ?? {})) expect(String(value)).toMatch(/^\d+(?:\.\d)?$/);
    // Turned clockwise, the top left corner of the content is at the top right, and reads downwards.
    expect(boxes[0]?.x).toBeGreaterThan(680);
    expect(boxes[0]?.height).toBeGreaterThan(boxes[0]?.width ?? Infinity);
    // The content itself is turned counter-clockwise: it begins at the bottom left and reads upwards.
    expect(boxes[2]?.x).toBeLessThan(120);
    expect(boxes[2]?.height).toBeGreaterThan(boxes[2]?.width ?? Infinity);
    expect((boxes[2]?.y ?? 0) + (boxes[2]?.height ?? 0)).toBeCloseTo(792 - 60, -1);
  });

  test('says title, language, pages and empty ones', async () => {
    const bytes = drawPdf({
      pages: [{ content: line(60, 700, 'Some words.') }, { content: '' }],
      info: '/Title(On axolotls)',
      catalog: '/Lang(de-DE)',
    });
    const { receipt } = await readBlocks(parsePdf, bytes);
    expect(receipt).toMatchObject({
      title: 'On axolotls',
      language: 'de-DE',
      unit: 'page',
      parts: 2,
      parts_read: 2,
    });
    expect(receipt.gaps).toEqual([
      { reason: 'empty', location: { pages: { first: 2, last: 2 } }, detail: expect.any(String) },
    ]);
  });

  test('keeps numbers in the middle of its width, which are no page numbers', async () => {
    const rule = (y: number) => `60 ${String(y)} m 540 ${String(y)} l S\n`;
    const bar = (x: number) => `${String(x)} 700 m ${String(x)} 620 l S\n`;
    const rows = [
      ['Name', 'Goals', 'Club'],
      ['Ann', '12', 'North'],
      ['Bob', '7', 'South'],
      ['Cem', '31', 'West'],
    ];
    const table = rows.map((cells, row) =>
      cells
        .map((cell, at) => line([70, at === 1 && row > 0 ? 301 : 290, 440][at] ?? 0, 686 - 20 * row, cell))
        .join(''),
    );
    const content = [
      ...[700, 680, 660, 640, 620].map(rule),
      ...[60, 220, 380, 540].map(bar),
      ...table,
      line(60, 400, 'Of the matches that were played at home, the team won:'),
      line(300, 380, '17'),
      line(60, 360, 'and it lost all others, of which there were not many in the year.'),
    ].join('');
    const { text } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
    expect(text).toContain('17');
    for (const row of ['| Ann | 12 | North |', '| Bob | 7 | South |', '| Cem | 31 | West |'])
      expect(text).toContain(row);
  });

  test('leaves a number alone in the middle of its top and bottom out, which is that of the page', async () => {
    const content = line(300, 770, '17') + lines(60, 700, column('line', 20)) + line(300, 30, '18');
    const { text } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
    expect(text.trim()).toMatch(/^line0 .* here and$/s);
  });

  test('reads all of 1,200 pages', async () => {
    const pages = Array.from({ length: 1_200 }, (_, index) => ({
      content: line(60, 400, `The word of this page is axolotl${String(index)}.`),
    }));
    const { blocks, receipt } = await readBlocks(parsePdf, drawPdf({ pages }));
    expect(receipt).toMatchObject({ parts: 1_200, parts_read: 1_200, gap_count: 0 });
    expect(blocks.map(({ place }) => place?.page)).toEqual(pages.map((_, index) => index + 1));
    expect(blocks.at(-1)?.text).toContain('axolotl1199');
  });

  test('reads the pages of a large file in their order', async () => {
    const pages = Array.from({ length: 180 }, (_, at) => ({
      content: line(60, 400, `This is the text of page ${String(at + 1)} alone.`),
    }));
    const large = stream('', randomBytes(3 * 1024 * 1024));
    const { blocks, receipt } = await readBlocks(parsePdf, drawPdf({ pages, objects: [large] }));
    expect(blocks.map(({ place }) => place?.page)).toEqual(pages.map((_, at) => at + 1));
    expect(blocks[133]?.text).toBe('This is the text of page 134 alone.\n\n');
    expect(receipt).toMatchObject({ parts: 180, parts_read: 180, gap_count: 0 });
  });

  test('takes down that PDFium cuts very long texts', async () => {
    const long = Array.from({ length: 9_000 }, (_, index) => `word${String(index)}`).join(' ');
    const page = { content: line(10, 700, long, { size: 4 }) };
    const { text, receipt } = await readBlocks(parsePdf, drawPdf({ pages: [page] }));
    expect(text).toContain('word3000');
    expect(receipt.gap_counts).toEqual({ limit: 1 });
  });
});
