import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, line } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** A table with a line around each cell, 20 points high, whose columns begin at these places; the last is its right edge. */
function ruled(top: number, edges: readonly number[], rows: readonly (readonly string[])[]): string {
  const [left = 0, right = 0] = [edges[0], edges.at(-1)];
  const across = Array.from({ length: rows.length + 1 }, (_, at) => top - 20 * at);
  const bottom = across.at(-1) ?? 0;
  return [
    ...across.map((y) => `${String(left)} ${String(y)} m ${String(right)} ${String(y)} l S\n`),
    ...edges.map((x) => `${String(x)} ${String(top)} m ${String(x)} ${String(bottom)} l S\n`),
    ...rows.flatMap((row, at) =>
      row.map((cell, place) => line((edges[place] ?? 0) + 4, top - 14 - 20 * at, cell)),
    ),
  ].join('');
}

const read = async (...pages: readonly string[]) => {
  const { text } = await readBlocks(parsePdf, drawPdf({ pages: pages.map((content) => ({ content })) }));
  return text.trim().split(/\n+/);
};

describe('ruled tables of a PDF', () => {
  test('of the same width stand apart, each with its own columns, and the text between them is whole', async () => {
    const content =
      ruled(
        700,
        [60, 160, 240, 300, 480],
        [
          ['Wetland', 'Herons', 'Storks', 'Cranes'],
          ['Alder Marsh', '112', '14', '3'],
          ['Birch Fen', '87', '9', '0'],
        ],
      ) +
      line(60, 628, 'Numbers of the year before are in the appendix of the report.') +
      ruled(
        620,
        [60, 200, 290, 480],
        [
          ['River', 'Length in km', 'Pairs'],
          ['Great Erft', '48.7', '31'],
          ['Little Brook', '12.3', '5'],
        ],
      ) +
      line(
        60,
        548,
        'A last line says, from the left edge of both tables far beyond their right edge, that this is all',
      ) +
      ruled(
        540,
        [60, 160, 480],
        [
          ['Name', 'Town'],
          ['Ann', 'Lyon'],
        ],
      );
    expect(await read(content)).toEqual([
      '| Wetland | Herons | Storks | Cranes |',
      '| --- | --- | --- | --- |',
      '| Alder Marsh | 112 | 14 | 3 |',
      '| Birch Fen | 87 | 9 | 0 |',
      'Numbers of the year before are in the appendix of the report.',
      '| River | Length in km | Pairs |',
      '| --- | --- | --- |',
      '| Great Erft | 48.7 | 31 |',
      '| Little Brook | 12.3 | 5 |',
      'A last line says, from the left edge of both tables far beyond their right edge, that this is all',
      '| Name | Town |',
      '| --- | --- |',
      '| Ann | Lyon |',
    ]);
  });

  test('keep a line that runs across their columns, under the names of which rows go on', async () => {
    const edges = [60, 160, 240, 480];
    const rows = [
      ['Wetland', 'Herons', 'Storks'],
      ['Alder Marsh', '112', '14'],
      [''],
      ['Cedar Bog', '45', '21'],
    ];
    const content = ruled(700, edges, rows) + line(64, 646, 'Those in the south, which are larger');
    expect(await read(content)).toEqual([
      '| Wetland | Herons | Storks |',
      '| --- | --- | --- |',
      '| Alder Marsh | 112 | 14 |',
      '| Those in the south, which are larger |  |  |',
      '| Cedar Bog | 45 | 21 |',
    ]);
  });

  test('that go on over pages have the names of their columns on each, if the file shows them there', async () => {
    const page = (first: number) =>
      ruled(
        740,
        [60, 200, 300, 480],
        [
          ['Item', 'Description', 'Price'],
          ...Array.from({ length: 32 }, (_, at) => [
            `Item ${String(first + at)}`,
            'of copper',
            `${String(first + at)}.50`,
          ]),
        ],
      );
    const rows = await read(page(0), page(32), page(64));
    expect(rows.filter((row) => row === '| Item | Description | Price |')).toHaveLength(3);
    for (let item = 0; item < 96; item += 1)
      expect(rows).toContain(`| Item ${String(item)} | of copper | ${String(item)}.50 |`);
  });

  test('have a row for each line of words with numbers in the same columns, where only some are ruled', async () => {
    const content =
      ruled(
        700,
        [60, 260, 340, 420],
        [
          ['Birds', 'North', 'South'],
          ['Herons seen at dawn', '12.5', '14.0'],
          ['', '', ''],
          ['Cranes seen at noon', '3.5', '7.1'],
        ],
      ).replace('60 640 m 420 640 l S\n', '') +
      line(64, 650, 'Storks heard at night') +
      line(264, 650, '8.8') +
      line(344, 650, '9.9');
    const lines = await read(content);
    expect(lines).toContain('| Herons seen at dawn | 12.5 | 14.0 |');
    expect(lines).toContain('| Storks heard at night | 8.8 | 9.9 |');
  });

  test('have a row for each line of numbers, where lines part rows in columns without texts alone', async () => {
    const edges = [60, 160, 240, 320, 400];
    const rows = [
      ['Wetland', 'Herons', 'Storks'],
      ['Alder', '112', '14'],
      ['Birch', '87', '9'],
      ['Cedar', '41', '22'],
    ];
    const content = [
      ...[700, 642].map((y) => `60 ${String(y)} m 400 ${String(y)} l S\n`),
      ...[686, 671.5, 657].map((y) => `320 ${String(y)} m 400 ${String(y)} l S\n`),
      ...edges.map((x) => `${String(x)} 700 m ${String(x)} 642 l S\n`),
      ...rows.flatMap((row, at) =>
        row.map((cell, place) => line((edges[place] ?? 0) + 4, 689 - 14.5 * at, cell)),
      ),
    ].join('');
    const lines = await read(content);
    for (const [name, ...numbers] of rows.slice(1))
      expect(lines).toContainEqual(
        expect.stringMatching(`^\\| ${String(name)} \\| ${numbers.join(' \\| ')} \\|`),
      );
  });

  test('are read by their lines on a page that lies on its side, too', async () => {
    const names = ruled(
      700,
      [60, 200, 300, 480],
      [
        ['', '', ''],
        ['Alder Marsh', '112', '14'],
        ['Birch Fen', '87', '9'],
      ],
    );
    const content = [
      '0 1 -1 0 720 0 cm\n',
      // Between the first two columns of numbers, there is no line in the row of names.
      names.replace('300 700 m 300 640 l', '300 690 m 300 640 l'),
      '200 690 m 480 690 l S\n',
      line(64, 686, 'Wetland'),
      line(320, 692, 'Birds', { size: 7 }),
      line(204, 682, 'Herons', { size: 7 }),
      line(304, 682, 'Storks', { size: 7 }),
    ].join('');
    expect(await read(content)).toEqual([
      '| Wetland | Birds | Birds |',
      '| --- | --- | --- |',
      '| Wetland | Herons | Storks |',
      '| Alder Marsh | 112 | 14 |',
      '| Birch Fen | 87 | 9 |',
    ]);
  });

  test('have one row for texts of several columns that go on in the next lines, however many these are', async () => {
    const edges = [60, 130, 200, 270];
    const cells = [
      ['Herons of the', 'Alder Marsh or', 'Birch Fen near', 'Cedar Bog and', 'Damson Lake'],
      ['Storks of the', 'Old Mill and of', 'New Bridge in', 'Upper Village', 'Granville'],
      ['Cranes on the', 'Long Meadow or', 'Short Hill near', 'Great Stone of', 'Olivia Town'],
    ];
    const content = [
      ...[700, 680, 600].map((y) => `60 ${String(y)} m 270 ${String(y)} l S\n`),
      ...edges.map((x) => `${String(x)} 700 m ${String(x)} 600 l S\n`),
      ...['Marsh', 'Roofs', 'Fields'].map((name, at) => line(64 + 70 * at, 686, name)),
      ...cells.flatMap((texts, at) => texts.map((text, row) => line(64 + 70 * at, 668 - 14 * row, text))),
    ].join('');
    expect(await read(content)).toEqual([
      '| Marsh | Roofs | Fields |',
      '| --- | --- | --- |',
      `| ${cells.map((texts) => texts.join(' ')).join(' | ')} |`,
    ]);
  });
});
