import { expect, test } from '@jest/globals';
import { sentencesOf } from '../../../src/shared/text/sentences.js';

const split = (text: string) => sentencesOf(text).map(({ start, end }) => text.slice(start, end));

test.each([
  ['One is here. Two is there!  Three?', ['One is here.', 'Two is there!', 'Three?']],
  ['It goes on\nover two lines. Next.', ['It goes on\nover two lines.', 'Next.']],
  ['A heading\n\nIts text.', ['A heading', 'Its text.']],
  ['- one\n- two\n  goes on\n3. three', ['- one', '- two\n  goes on', '3. three']],
  [
    'Dr. Smith met Prof. Jones at 5 p.m. on Monday. They left.',
    ['Dr. Smith met Prof. Jones at 5 p.m. on Monday.', 'They left.'],
  ],
  [
    '| Mill | It stands. It turns. | 8 |\n|---|---|---|\n| | Weir | | |',
    ['Mill | It stands. It turns. | 8', 'Weir'],
  ],
  [`| ${'It is long. '.repeat(40)}|`, ['| It is long.', ...Array<string>(39).fill('It is long.')]],
  ['It holds letters, etc.', ['It holds letters, etc.']],
  ['灯塔高六十米。它位于岛的西端。', ['灯塔高六十米。', '它位于岛的西端。']],
  ['***\n\n  \n---', []],
  ['', []],
])('the sentences of %j', (text, sentences) => {
  expect(split(text)).toEqual(sentences);
});

test('a text without full stops is cut at blanks, and within no sign', () => {
  const words = 'word '.repeat(300).trim();
  const pieces = split(words);
  expect(pieces.length).toBeGreaterThan(3);
  for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(400);
  expect(pieces.join(' ')).toBe(words);
  expect(split('\u{1F600}a'.repeat(500)).join('')).toBe('\u{1F600}a'.repeat(500));
});
