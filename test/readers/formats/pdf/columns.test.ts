import { describe, expect, test } from '@jest/globals';
import { orderColumns } from '../../../../src/readers/formats/pages/layout/columns.js';
import { joinLines } from '../../../../src/readers/formats/pages/layout/lines.js';
import { paragraphsOf } from '../../../../src/readers/formats/pages/layout/page-blocks.js';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';

const at = (x: number, y: number, text: string): Piece => ({
  text,
  x,
  y,
  width: 5 * text.length,
  height: 11,
  size: 11,
  isBold: false,
});

const read = (pieces: readonly Piece[]): string =>
  orderColumns(joinLines(pieces))
    .flatMap(paragraphsOf)
    .map(({ text }) => text)
    .join('\n');

const ACROSS = 'A sentence that runs across the whole width of the page, over everything, to its margin';

describe('what stands side by side on a page', () => {
  test('is read by rows where it is cells, whatever else stands at the left of the page', () => {
    const list = Array.from({ length: 12 }, (_, index) => at(60, 120 + 20 * index, `item ${String(index)}`));
    const table = ['Alder', 'Birch', 'Cedar', 'Damson'].flatMap((name, row) => {
      const y = 380 + 20 * row;
      return [name, ...[1, 2, 3, 4, 5].map((place) => `${String(place)}${String(row)}`)].map((cell, place) =>
        at(60 + 80 * place, y, cell),
      );
    });
    const text = read([at(60, 100, ACROSS), ...list, ...table, at(60, 480, ACROSS)]);
    expect(text.replace(/\s+/g, ' ')).toContain('item 11 Alder 10 20 30 40 50 Birch 11 21 31 41 51 Cedar 12');
  });

  test('is read column by column where it is prose, also between lines that run across', () => {
    const prose = (name: string, x: number, y: number) =>
      Array.from({ length: 8 }, (_, index) =>
        at(x, y + 14 * index, `${name}${String(index)} and words of ordinary prose`),
      );
    const text = read([
      ...prose('one', 60, 100),
      ...prose('two', 320, 100),
      at(60, 230, ACROSS),
      ...prose('three', 60, 260),
      ...prose('four', 320, 260),
    ]);
    const marks = ['one0', 'one7', 'two0', 'two7', 'A sentence', 'three0', 'three7', 'four0', 'four7'];
    expect(marks.toSorted((a, b) => text.indexOf(a) - text.indexOf(b))).toEqual(marks);
  });

  test('is read by rows where it is one text with wide gaps in some of its lines, which others cross', () => {
    const gapped = (name: string, y: number) => [
      at(60, y, `${name} left and words of prose`),
      at(320, y, `${name} right and words of prose`),
    ];
    const text = read([
      ...gapped('one', 100),
      ...gapped('two', 114),
      ...gapped('three', 128),
      at(60, 142, ACROSS),
      at(60, 156, ACROSS),
      ...gapped('four', 170),
      ...gapped('five', 184),
      at(60, 198, ACROSS),
      at(60, 212, ACROSS),
    ]);
    const marks = ['one', 'two', 'three', 'four', 'five'].flatMap((name) => [
      `${name} left`,
      `${name} right`,
    ]);
    expect(marks.toSorted((a, b) => text.indexOf(a) - text.indexOf(b))).toEqual(marks);
  });

  test('is read column by column below a table and a text across, however many lines these have', () => {
    const table: Piece = { ...at(60, 340, ''), width: 480, height: 90, table: [] };
    const across = Array.from({ length: 16 }, (_, index) => at(60, 100 + 14 * index, ACROSS));
    const side = (name: string, x: number) =>
      Array.from({ length: 10 }, (_, index) =>
        at(x, 450 + 14 * index, `${name}${String(index)} and words of ordinary prose`),
      );
    const text = read([...across, table, ...side('one', 60), ...side('two', 320)]);
    const marks = ['A sentence', 'one0', 'one9', 'two0', 'two9'];
    expect(marks.toSorted((a, b) => text.indexOf(a) - text.indexOf(b))).toEqual(marks);
  });

  test('is read by rows below a table where it is names with short values', () => {
    const table: Piece = { ...at(60, 340, ''), width: 480, height: 90, table: [] };
    const across = Array.from({ length: 16 }, (_, index) => at(60, 100 + 14 * index, ACROSS));
    const names = Array.from({ length: 10 }, (_, index) => [
      at(60, 450 + 14 * index, `Name ${String(index)} of a long and ordinary kind`),
      at(320, 456 + 14 * index, `VALUE${String(index)}`),
    ]);
    const text = read([...across, table, ...names.flat()]);
    expect(text.indexOf('VALUE0')).toBeLessThan(text.indexOf('Name 1'));
  });
});
