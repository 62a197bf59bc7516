import { describe, expect, test } from '@jest/globals';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';
import { placeWrappedTables } from '../../../../src/readers/formats/pages/tables/wrapped-tables.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, line } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

const ROWS = [
  ['Part', 'What it does', 'Weight'],
  ['Gear box', 'Moves the belt at three speeds and / turns it back when it is stuck', '12 kg'],
  ['Long lever', 'Holds the gear', '1 kg'],
  ['Cover', 'Keeps dust and water away from the / moving parts, and hands as well, at / all times', '3 kg'],
  ['Handle', 'Opens the cover when the machine is / switched off', '400 g'],
];
const PLAIN = ROWS.map((cells) => cells.map((cell) => cell.replaceAll(' / ', ' ')));
const COLUMNS = [60, 160, 380];
const [LEADING, PADDING] = [12, 4];

interface Drawn {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** The texts of a table whose cells stand at this share of the free height of their row. */
function drawn(share: number, rows: readonly (readonly string[])[] = ROWS): Drawn[] {
  const texts: Drawn[] = [];
  let y = 100;
  for (const cells of rows) {
    const lines = cells.map((cell) => cell.split(' / '));
    const most = Math.max(...lines.map(({ length }) => length));
    for (const [column, own] of lines.entries())
      for (const [at, text] of own.entries())
        texts.push({
          text,
          x: COLUMNS[column] ?? 0,
          y: y + LEADING * (at + share * (most - own.length)),
        });
    y += LEADING * most + 2 * PADDING;
  }
  return texts;
}

const pieces = (texts: readonly Drawn[]): Piece[] =>
  texts.map(({ text, x, y }) => {
    const width = 5 * text.length;
    return { text, x, y, width, height: 11.7, size: 10, isBold: false };
  });

const tablesIn = (all: readonly Piece[]) =>
  placeWrappedTables(all).flatMap(({ table }) => (table ? [table.map(({ cells }) => cells)] : []));

describe('A table without lines whose cells have several lines', () => {
  test('is read row by row, wherever the texts stand in their rows', () => {
    for (const share of [0, 0.5, 1]) expect(tablesIn(pieces(drawn(share)))).toEqual([PLAIN]);
  });

  test('is read so from a file, between paragraphs that stay', async () => {
    const prose =
      'An ordinary sentence above the table that is as wide as the whole of it, to the right edge.';
    const content = drawn(1)
      .map(({ text, x, y }) => line(x, 740 - y, text).replace(/ \d+ Tf/, ' 10 Tf'))
      .join('');
    const bytes = drawPdf({ pages: [{ content: line(60, 700, prose) + content + line(60, 400, prose) }] });
    const { text } = await readBlocks(parsePdf, bytes);
    const table = PLAIN.map((cells) => `| ${cells.join(' | ')} |`);
    expect(text).toContain([table[0], '| --- | --- | --- |', ...table.slice(1)].join('\n'));
    expect(text.split(prose)).toHaveLength(3);
  });

  test('is none where lines could have gone on, where two numbers stand below each other, or in columns of prose', () => {
    const early = ROWS.map((cells) => cells.map((cell) => cell.replace(/ (?:at|the) three/, ' / at three')));
    expect(tablesIn(pieces(drawn(0, [...early.slice(0, 3), ['A', 'One / two / of / a', '2 g']])))).toEqual(
      [],
    );
    const numbers = [...ROWS.slice(0, 4), ['Handle', 'Opens the cover when the machine is / off', '4 / 5']];
    expect(tablesIn(pieces(drawn(0, numbers)))).toEqual([]);
    const words = 'keeps dust and water away / and moves the parts with / great care each day and';
    const short = 'keeps dust and water away / and moves the parts with';
    const prose = [
      [short, words, words],
      [words, short, words],
      [words, words, short],
    ];
    expect(tablesIn(pieces(drawn(0, prose)))).toEqual([]);
  });
});
