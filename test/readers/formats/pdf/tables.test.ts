import type { LayoutBlock, LayoutCell } from '@llamaindex/liteparse';
import { describe, expect, test } from '@jest/globals';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';
import { placeFoundTables } from '../../../../src/readers/formats/pages/tables/found-tables.js';

const HEIGHT = 10;

const piece = (text: string, x: number, y: number, width = 8 * text.length): Piece => ({
  text,
  x,
  y,
  width,
  height: HEIGHT,
  size: HEIGHT,
  isBold: false,
});

const cell = (text: string, x: number, y: number, width = 8 * text.length): LayoutCell =>
  text === '' ? { text } : { text, bbox: { x, y, width, height: HEIGHT } };

/** A table as PDFium's reader finds it, with rows 20 points apart. */
const tableOf = (...rows: (readonly [text: string, x: number][])[]): LayoutBlock => {
  const [header = [], ...others] = rows.map((row, at) => row.map(([text, x]) => cell(text, x, 20 * at)));
  const bbox = { x: 0, y: 0, width: 400, height: 20 * rows.length };
  return { kind: 'table', bbox, header, rows: others };
};

/** The cells of the table that takes the place of pieces; undefined while these stay texts. */
const cellsOf = (pieces: readonly Piece[], block: LayoutBlock) =>
  placeFoundTables(pieces, [block])
    .find(({ table }) => table)
    ?.table?.map(({ cells }) => cells);

const numbers = tableOf(
  [
    ['2009', 200],
    ['2010', 300],
  ],
  [
    ['60', 200],
    ['61', 300],
  ],
  [
    ['17', 200],
    ['19', 300],
  ],
);
const inNumbers = [
  piece('2009', 200, 0),
  piece('2010', 300, 0),
  piece('60', 200, 20),
  piece('61', 300, 20),
  piece('17', 200, 40),
  piece('19', 300, 40),
];

describe('tables that the reader of PDF pages finds', () => {
  test('get back the names of their rows', () => {
    const names = [piece('Peru', 0, 20), piece('Mali', 0, 40)];
    expect(cellsOf([...inNumbers, ...names], numbers)).toEqual([
      ['', '2009', '2010'],
      ['Peru', '60', '61'],
      ['Mali', '17', '19'],
    ]);
  });

  test('get back a text of a cell beside its own', () => {
    const table = tableOf(
      [
        ['Men', 180],
        ['Women', 280],
      ],
      [
        ['1904', 190],
        ['1906', 280],
      ],
      [
        ['1905', 190],
        ['1907', 280],
      ],
    );
    const own = [
      piece('Men', 180, 0),
      piece('Women', 280, 0),
      piece('1904', 190, 20),
      piece('1906', 280, 20),
      piece('1905', 190, 40),
      piece('1907', 280, 40),
    ];
    expect(cellsOf([piece('c', 225, 20), ...own], table)).toEqual([
      ['Men', 'Women'],
      ['1904 c', '1906'],
      ['1905', '1907'],
    ]);
  });

  test('get back a row of one text, which names those below it', () => {
    const table = tableOf(
      [
        ['Group', 0],
        ['Share', 200],
      ],
      [
        ['Age 4', 0],
        ['12', 200],
      ],
      [
        ['', 0],
        ['', 200],
      ],
      [
        ['Female', 0],
        ['14', 200],
      ],
    );
    const own = [
      piece('Group', 0, 0),
      piece('Share', 200, 0),
      piece('Age 4', 0, 20),
      piece('12', 200, 20),
      piece('Female', 0, 60),
      piece('14', 200, 60),
    ];
    expect(cellsOf([...own, piece('Sex', 0, 40)], table)).toEqual([
      ['Group', 'Share'],
      ['Age 4', '12'],
      ['Sex', ''],
      ['Female', '14'],
    ]);
  });

  test('may repeat in several columns what stands over them', () => {
    const table = tableOf(
      [
        ['Substance', 0],
        ['Use Month', 200],
        ['Use Year', 300],
      ],
      [
        ['Cannabis', 0],
        ['9.6%', 200],
        ['4.0%', 300],
      ],
    );
    const own = [
      piece('Substance', 0, 0),
      piece('Use', 250, 0),
      piece('Month', 200, 4),
      piece('Year', 300, 4),
      piece('Cannabis', 0, 20),
      piece('9.6%', 200, 20),
      piece('4.0%', 300, 20),
    ];
    expect(cellsOf(own, table)?.[0]).toEqual(['Substance', 'Use Month', 'Use Year']);
  });

  test('stay texts when something that they have lost stands in no one column, or is most of them', () => {
    const across = piece('The Commission published both numbers.', 190, 30);
    expect(cellsOf([...inNumbers, across], numbers)).toBeUndefined();
    const longer = [piece('Peru and its neighbours', 0, 20), piece('Mali and its neighbours', 0, 40)];
    expect(cellsOf([...inNumbers, ...longer], numbers)).toBeUndefined();
  });

  test('are none where they are cut out of lines of text, whose words stand apart as in justified columns', () => {
    const slice: LayoutBlock = {
      ...tableOf(
        [
          ['of', 200],
          ['and from here on', 240],
        ],
        [
          ['the', 200],
          ['the second column', 240],
        ],
        [
          ['last', 200],
          ['goes on beside it', 240],
        ],
      ),
      bbox: { x: 195, y: 0, width: 205, height: 60 },
    };
    const words = ['of', 'the', 'last'].map((word, row) => piece(word, 200, 20 * row));
    const beside = ['and from here on', 'the second column', 'goes on beside it'].map((text, row) =>
      piece(text, 240, 20 * row),
    );
    const before = (gap: number) => [0, 20, 40].map((y) => piece('words before', 200 - gap - 96, y));
    expect(cellsOf([...before(10), ...words, ...beside], slice)).toBeUndefined();
    expect(cellsOf([...before(40), ...words, ...beside], slice)).toHaveLength(3);
  });

  describe('without names of their columns', () => {
    const towns = [
      ['01', 'Granville', '040'],
      ['02', 'Bird Island', '041'],
    ] as const;
    const block = tableOf(
      ...towns.map(([code, name, ward]): [string, number][] => [
        [code, 20],
        [name, 100],
        [ward, 300],
      ]),
    );
    const below = towns.flatMap((row, at) =>
      row.map((text, place) => piece(text, [20, 100, 300][place] ?? 0, 20 * at)),
    );

    test('take them from the lines above, of which some have two and others stand beside the texts', () => {
      const names = [
        piece('Code', 10, -26),
        piece('of it', 10, -15),
        piece('Name', 220, -20),
        piece('Ward', 295, -15),
      ];
      expect(cellsOf([...names, ...below], block)).toEqual([['Code of it', 'Name', 'Ward'], ...towns]);
    });

    test('take no sentences, texts over two columns, or what stands far above', () => {
      const others = [
        [piece('These are the towns and their codes, and wards.', 20, -15)],
        [piece('Code and a name', 20, -15), piece('Ward', 300, -15)],
        [piece('Code', 20, -40), piece('Name', 100, -40), piece('Ward', 300, -40)],
      ];
      for (const above of others) expect(cellsOf([...above, ...below], block)).toEqual(towns);
    });
  });

  test('have a row for each line of numbers that the reader has joined, and one for a name of two lines', () => {
    const texts = (y: number, row: readonly string[]) =>
      row.map((text, at) => piece(text, [0, 200, 300][at] ?? 0, y));
    const rows = [
      ['Fisheries', '2009', '2010'],
      ['Fruit', '60', '61'],
      ['ALL OF THEM', '17', '19'],
    ] as const;
    const block = (first: string, ...numbers: string[]) =>
      tableOf(
        [
          ['Fisheries', 0],
          ['2009', 200],
          ['2010', 300],
        ],
        [
          [first, 0],
          [numbers[0] ?? '', 200],
          [numbers[1] ?? '', 300],
        ],
      );
    const pieces = [...texts(0, rows[0]), ...texts(16, rows[1]), ...texts(27, rows[2])];
    const both = {
      ...block('Fruit ALL OF THEM', '60 17', '61 19'),
      bbox: { x: 0, y: 0, width: 400, height: 40 },
    };
    expect(cellsOf(pieces, both)).toEqual(rows);
    const name = [...texts(0, rows[0]), ...texts(16, rows[1]), piece('and nuts', 0, 27)];
    const one = { ...block('Fruit and nuts', '60', '61'), bbox: both.bbox };
    expect(cellsOf(name, one)).toEqual([rows[0], ['Fruit and nuts', '60', '61']]);
  });
});
