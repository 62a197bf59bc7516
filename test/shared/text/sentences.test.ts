import { describe, expect, test } from '@jest/globals';
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
  [
    'It ends.[1] As does this.[2,3][14] And (more.) It goes.[See there] Last.[4]',
    ['It ends.[1]', 'As does this.[2,3][14]', 'And (more.)', 'It goes.', '[See there] Last.[4]'],
  ],
  ['高六十米。【1】在西端。', ['高六十米。', '【1】在西端。']],
  ['It ends.[', ['It ends.']],
  ['It holds letters, etc.', ['It holds letters, etc.']],
  ['灯塔高六十米。它位于岛的西端。', ['灯塔高六十米。', '它位于岛的西端。']],
  ['***\n\n  \n---', []],
  ['', []],
])('the sentences of %j', (text, sentences) => {
  expect(split(text)).toEqual(sentences);
});

describe('a long sentence', () => {
  const word = (length: number): string => 'a'.repeat(length);
  test.each([
    ['of 400 characters is whole', word(400), [400]],
    ['is cut at the last blank before', `${word(250)} ${word(140)} ${word(100)}`, [391, 100]],
    ['is cut at the blank behind the last character that fits', `${word(400)} ${word(7)}`, [400, 7]],
    ['is cut within a word where the blank is in its first half', `${word(200)} ${word(300)}`, [400, 101]],
    ['but not where it is behind', `${word(201)} ${word(300)}`, [201, 300]],
    ['is not cut within a sign', `${word(399)}\u{1F600}${word(5)}`, [399, 7]],
    ['is cut behind a sign', `${word(398)}\u{1F600}${word(5)}`, [400, 5]],
    ['in several pieces', word(1000), [400, 400, 200]],
  ])('%s', (_, text, lengths) => {
    expect(split(text).map(({ length }) => length)).toEqual(lengths);
    expect(split(text).join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
  });

  test('of a row is whole as long as others', () => {
    const cell = (length: number) => `It is. ${'B'.repeat(length - 7)}`;
    expect(split(`A long table\n\n| ${cell(400)} |`)).toEqual(['A long table', cell(400)]);
    expect(split(`| ${cell(401)} |`)[0]).toBe('| It is.');
  });
});

test('lines between others belong to what they stand in', () => {
  expect(split('a | b\n  \nIt is so\n| 1 |\nbehind')).toEqual(['a | b', 'It is so', '1 |\nbehind']);
  expect(split('It is 3) and - so | on.')).toEqual(['It is 3) and - so | on.']);
});

test('a text without full stops is cut at blanks, and within no sign', () => {
  const words = 'word '.repeat(300).trim();
  const pieces = split(words);
  expect(pieces.length).toBeGreaterThan(3);
  for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(400);
  expect(pieces.join(' ')).toBe(words);
  expect(split('\u{1F600}a'.repeat(500)).join('')).toBe('\u{1F600}a'.repeat(500));
});
