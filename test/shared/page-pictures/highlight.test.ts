import { expect, test } from '@jest/globals';
import { NOWHERE } from '../../../src/shared/chunks/fields.js';
import { packSpots } from '../../../src/shared/chunks/spots.js';
import { boxesOn, parseHighlight, writeHighlight } from '../../../src/shared/page-pictures/highlight.js';

test.each([
  ['7', { chunk: 7, part: null }],
  [' 7 ', { chunk: 7, part: null }],
  ['7:120-180', { chunk: 7, part: { start: 120, end: 180 } }],
  ['0:0-0', { chunk: 0, part: { start: 0, end: 1 } }],
  ['7:180-120', { chunk: 7, part: { start: 120, end: 180 } }],
])('%j is a passage', (text, highlight) => {
  expect(parseHighlight(text)).toEqual(highlight);
  expect(parseHighlight(writeHighlight(highlight))).toEqual(highlight);
});

test.each(['', '-1', 'all', '7:', '7:1', '7:1-', '7:-1-2', '1.5', '7:1-2:3', '123456789'])(
  '%j is none',
  (text) => {
    expect(parseHighlight(text)).toBeNull();
  },
);

test('a part has the rectangles of its lines, one of an older chunk those of the chunk, and one behind the text has none', () => {
  const [first, second] = [72, 90].map((y) => ({ x: 72, y, width: 100, height: 12 }));
  if (!first || !second) throw new Error('no rectangles');
  const whole = { page: 2, x: 72, y: 72, width: 100, height: 30 };
  const spots = packSpots([
    { start: 0, number: 2, box: first },
    { start: 20, number: 2, box: second },
  ]);
  const location = { pages: { first: 2, last: 2 }, boxes: [whole] };
  const chunk = {
    ...NOWHERE,
    number: 0,
    text: 'x'.repeat(40),
    tokenCount: 1,
    overlap: 0,
    like: null,
    location,
    spots,
  };
  const part = (start: number, end: number) => ({ chunk: 0, part: { start, end } });
  expect(boxesOn(2, chunk, part(25, 30))).toEqual([{ page: 2, ...second }]);
  expect(boxesOn(2, chunk, part(5, 30))).toHaveLength(2);
  expect(boxesOn(3, chunk, part(5, 30))).toEqual([]);
  expect(boxesOn(2, chunk, { chunk: 0, part: null })).toEqual([whole]);
  expect(boxesOn(2, { ...chunk, spots: '' }, part(5, 30))).toEqual([whole]);
  expect(boxesOn(2, chunk, part(40, 50))).toEqual([]);
});
