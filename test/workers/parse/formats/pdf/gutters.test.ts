import { expect, test } from '@jest/globals';
import { orderColumns } from '../../../../../src/workers/parse/formats/pages/layout/columns.js';
import { joinLines } from '../../../../../src/workers/parse/formats/pages/layout/lines.js';
import type { Piece } from '../../../../../src/workers/parse/formats/pages/layout/piece.js';

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
