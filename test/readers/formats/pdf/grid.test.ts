import { describe, expect, test } from '@jest/globals';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';
import { placeRuledTables } from '../../../../src/readers/formats/pages/tables/ruled-tables.js';

const EDGES = [60, 160, 240, 320];
const PITCH = 14.5;

const piece = (text: string, column: number, row: number): Piece => ({
  text,
  x: (EDGES[column] ?? 0) + 4,
  y: 101.5 + PITCH * row,
  width: 5 * text.length,
  height: 11.7,
  size: 10,
  isBold: false,
});

/** The cells of a table of four rows, between which lines run in one column alone, below the first in all. */
function tableOf(texts: readonly (readonly string[])[], lined: number) {
  const pieces = texts.flatMap((row, at) => row.map((text, column) => piece(text, column, at)));
  const [left = 0, right = 0] = [EDGES[lined], EDGES[lined + 1]];
  const rulings = {
    across: [
      ...[100, 100 + PITCH, 158].map((at) => ({ at, from: 60, to: 320 })),
      ...[2, 3].map((row) => ({ at: 100 + PITCH * row, from: left, to: right })),
    ],
    down: EDGES.map((at) => ({ at, from: 100, to: 158 })),
  };
  return placeRuledTables(pieces, rulings).flatMap(({ table }) => table?.map(({ cells }) => cells) ?? []);
}

describe('Numbers below each other between which no line runs', () => {
  test('are cells of their own where the lines part nothing but blank cells', () => {
    const numbers = [
      ['Herons', 'Storks'],
      ['112', '14'],
      ['87', '9'],
      ['41', '22'],
    ];
    expect(tableOf(numbers, 2)).toEqual(numbers);
  });

  test('are lines of one cell where the lines part the texts beside them', () => {
    const texts = [
      ['Wetland', '112', '5'],
      ['Alder', '87', '6'],
      ['Birch', '41', '7'],
      ['Cedar', '30', '8'],
    ];
    const [first = [], ...others] = texts;
    expect(tableOf(texts, 0)).toEqual([first, ...others.map(([name]) => [name, '87 41 30', '6 7 8'])]);
  });
});
