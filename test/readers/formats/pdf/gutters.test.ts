import { describe, expect, test } from '@jest/globals';
import { orderColumns } from '../../../../src/readers/formats/pages/layout/columns.js';
import { guttersOf, isAtGutter } from '../../../../src/readers/formats/pages/layout/gutters.js';
import { joinLines } from '../../../../src/readers/formats/pages/layout/lines.js';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';

const SHAPE = { height: 11, size: 11, isBold: false };

test('columns are read one by one also where their gutter is as narrow as a space may be', () => {
  const wordsOf = (name: string) =>
    Array.from({ length: 30 }, (_, index) => ({
      y: 100 + 13 * index,
      text: `${name}${String(index)} and words of ordinary prose`,
    }));
  const column = (name: string, x: number): Piece[] =>
    wordsOf(name).map(({ y, text }) => ({ text, x, y, width: 249, ...SHAPE }));
  const lines = joinLines([...column('left', 54), ...column('right', 315)]);
  expect(lines).toHaveLength(60);
  const order = orderColumns(lines).map((group) => group[0]?.text.split(' ')[0]);
  expect(order).toEqual(['left0', 'right0']);
  // Bullets of a list in the right column stay with their texts.
  const bullets = column('left', 54).flatMap((left): Piece[] => [
    left,
    { ...left, text: '•', x: 330, width: 5 },
    { ...left, text: 'an item of a list of some words', x: 343, width: 200 },
  ]);
  expect(joinLines(bullets)).toHaveLength(60);
  // The words of a line that runs across the page stay together.
  const spread = wordsOf('line').flatMap(({ y }, row) => {
    let x = 54;
    return Array.from({ length: 8 }, (_, at): Piece => {
      const width = 40 + ((row * 7 + at * 5) % 31);
      const word = { text: 'justified', x, y, width, ...SHAPE };
      x += width + 8;
      return word;
    });
  });
  expect(joinLines(spread)).toHaveLength(30);
});

describe('a place where many pieces begin', () => {
  const words = 'words of ordinary prose in a column';
  const piece = (text: string, x: number, width: number): Piece => ({ text, x, y: 0, width, ...SHAPE });
  const rowsOf = (count: number, ...row: Piece[]): Piece[][] => Array.from({ length: count }, () => row);
  const columns = (gap = 10) => [piece(words, 50, 250 - gap), piece(words, 300, 240)];
  const across = piece(`${words} ${words}`, 50, 490);

  test('is a gutter with text on both sides of six rows', () => {
    expect(guttersOf(rowsOf(6, ...columns()))).toEqual([300]);
    expect(guttersOf(rowsOf(5, ...columns()))).toEqual([]);
    expect(guttersOf([...rowsOf(5, ...columns()), ...rowsOf(5, across)])).toEqual([]);
  });

  test('is none where the space before it is that between words', () => {
    expect(guttersOf(rowsOf(30, ...columns(5)))).toEqual([]);
  });

  test('is none where lines run across it, but for a few', () => {
    const rows = [...rowsOf(10, ...columns()), ...rowsOf(10, across), ...rowsOf(10, ...columns())];
    expect(guttersOf(rows)).toEqual([]);
    expect(guttersOf([...rows, ...rowsOf(20, ...columns())])).toEqual([300]);
  });

  test('is none where a side holds labels or numbers', () => {
    expect(guttersOf(rowsOf(30, piece('label', 50, 240), piece(words, 300, 240)))).toEqual([]);
    expect(guttersOf(rowsOf(30, piece(words, 50, 240), piece('12', 300, 20)))).toEqual([]);
  });

  test('counts pieces that begin within a point and a half', () => {
    const gutters = guttersOf(rowsOf(6, ...columns()));
    const at = (x: number) => isAtGutter(gutters, piece(words, x, 240));
    expect([298, 299, 300, 301, 302].map(at)).toEqual([false, true, true, true, false]);
  });
});
