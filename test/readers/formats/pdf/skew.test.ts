import { describe, expect, test } from '@jest/globals';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';
import { linesAskew, setAskew, skewOf, straightened } from '../../../../src/readers/formats/pages/skew.js';

const PAGE = { width: 612, height: 792 };

interface Words {
  readonly lines?: number;
  readonly words?: number;
  /** The places where the columns begin. */
  readonly columns?: readonly number[];
  /** The space after a word. */
  readonly space?: number;
}

/** Words of several lengths, with and without long letters, on lines 12 points apart. */
function words({ lines = 20, words: count = 8, columns = [60], space = 4 }: Words = {}): Piece[] {
  const pieces: Piece[] = [];
  for (const [column, start] of columns.entries())
    for (let line = 0; line < lines; line += 1) {
      let x = start;
      for (let word = 0; word < count; word += 1) {
        const letters = 1 + ((line * 7 + word * 5 + column * 3) % 9);
        const isHigh = (line * 3 + word * 5) % 4 > 0;
        const [width, height] = [5 * letters, isHigh ? 9 : 6];
        const y = 100 + 12 * line + 5 * column - height;
        pieces.push({ text: 'o'.repeat(letters), x, y, width, height, size: 0.85 * height, isBold: false });
        x += width + space;
      }
    }
  return pieces;
}

const askew = (pieces: readonly Piece[], skew: number): Piece[] =>
  pieces.map((piece) => {
    const box = setAskew(piece, { skew, ...PAGE });
    return { ...piece, ...box, size: 0.85 * box.height };
  });

describe('the angle of a page', () => {
  test.each([-9, -3, -1.5, -0.6, 0.6, 1.5, 3, 9])('is measured by its words: %d degrees', (degrees) => {
    const pages = [words(), words({ words: 5, columns: [50, 320] }), words({ lines: 6 })];
    for (const page of pages) expect(Math.abs(skewOf(askew(page, degrees)) - degrees)).toBeLessThan(0.3);
  });

  test('is none where it is straight, has several columns or cells, or lies far askew', () => {
    expect(skewOf(words())).toBe(0);
    expect(skewOf(words({ words: 3, columns: [40, 180, 320, 460] }))).toBe(0);
    expect(skewOf(words({ words: 6, space: 60 }))).toBe(0);
    expect(skewOf(askew(words(), 0.2))).toBe(0);
    expect(skewOf(askew(words(), 14))).toBe(0);
  });

  test('is none where too few words tell it, or they do not agree', () => {
    expect(skewOf([])).toBe(0);
    expect(skewOf(askew(words({ lines: 2, words: 5 }), 3))).toBe(0);
    expect(Math.abs(skewOf(askew(words({ lines: 1, words: 4 }), -4), 2) + 4)).toBeLessThan(1.5);
    const scattered = words().map((piece, at) => ({ ...piece, y: (at * 131) % 700 }));
    expect(skewOf(scattered)).toBe(0);
  });

  test('is none where all words stand on one place', () => {
    const [one] = words();
    expect(skewOf(one ? Array.from({ length: 20_000 }, () => one) : [])).toBe(0);
  });
});

test('pieces of a page that lies askew are set straight', () => {
  const straight = words({ lines: 3 });
  const middleOf = ({ y, height }: Piece) => y + height / 2;
  const off = (one: Piece, other: Piece) =>
    Math.max(Math.abs(one.x - other.x), Math.abs(middleOf(one) - middleOf(other)));
  const nearest = (piece: Piece) => Math.min(...straight.map((other) => off(piece, other)));
  for (const piece of straightened(askew(straight, 3), { skew: 3, ...PAGE }))
    expect(nearest(piece)).toBeLessThan(1);
});

test('lines of a page that lies askew keep sizes that differ much', () => {
  const [title, ...others] = words().map((piece) => ({ ...piece, size: 8 }));
  if (!title) throw new Error('no words');
  const sizes = straightened([{ ...title, y: 20, size: 16 }, ...others], { skew: 1, ...PAGE }).map(
    ({ size }) => Math.round(size),
  );
  expect(sizes[0]).toBeGreaterThan(12);
  expect(new Set(sizes.slice(1)).size).toBe(1);
});

test('lines of a page that lies askew are put back for texts that stand beside those of the page itself', () => {
  const page = { skew: 3, ...PAGE };
  const found = straightened(askew(words(), 3), page);
  const lines = linesAskew(found, page);
  expect(lines).toHaveLength(20);
  for (const [at, line] of lines.entries()) {
    const own = words().slice(8 * at, 8 * at + 8);
    expect(line.text.split(' ')).toEqual(own.map(({ text }) => text));
    const shown = setAskew({ x: 60, y: 91 + 12 * at, width: line.width, height: 9 }, page);
    expect(Math.abs(line.y + line.height / 2 - shown.y - shown.height / 2)).toBeLessThan(4);
  }
});
