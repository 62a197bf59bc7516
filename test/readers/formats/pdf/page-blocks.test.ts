import { describe, expect, test } from '@jest/globals';
import { orderColumns } from '../../../../src/readers/formats/pages/layout/columns.js';
import { pageBlocks } from '../../../../src/readers/formats/pages/layout/page-blocks.js';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';
import { placeFoundTables } from '../../../../src/readers/formats/pages/tables/found-tables.js';

const piece = (text: string, y: number, { x = 60, size = 10, width = 200 } = {}): Piece => ({
  text,
  x,
  y,
  width,
  height: size,
  size,
  isBold: false,
});

const blocksOf = (pieces: readonly Piece[]) => [...pageBlocks({ page: 1, pieces, bodySize: 10 })];

describe('the pieces of a page', () => {
  test('are headings by how much larger than ordinary text they are', () => {
    const headings = [10.5, 11.5, 14, 17].map(
      (size) => blocksOf([piece('Words', 100, { size })])[0]?.heading,
    );
    expect(headings).toEqual([undefined, 3, 2, 1]);
  });

  test('are no heading where they are more than three lines', () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, at) => piece('Large words', 100 + 24 * at, { size: 20 }));
    expect(blocksOf(lines(3)).map(({ heading }) => heading)).toEqual([1]);
    expect(blocksOf(lines(4)).map(({ heading }) => heading)).toEqual([undefined]);
  });

  test('are a paragraph of their own where their size changes', () => {
    const texts = blocksOf([piece('The title', 100, { size: 14 }), piece('and words below', 116)]);
    expect(texts.map(({ text }) => text)).toEqual(['The title\n\n', 'and words below\n\n']);
  });

  test('stand on one line where some of them are raised or lowered', () => {
    const raised = piece('2', 99, { x: 260, size: 6, width: 4 });
    const lowered = piece('3', 105, { x: 264, size: 6, width: 4 });
    expect(blocksOf([piece('E = mc', 100), raised, lowered])[0]?.text).toBe('E = mc23\n\n');
    const below = piece('next', 112, { x: 264, width: 4 });
    expect(blocksOf([piece('E = mc', 100), below])[0]?.text).toBe('E = mc\nnext\n\n');
  });

  test('are read row by row where short ones stand side by side', () => {
    const rows = (text: string) =>
      [0, 1, 2, 3].flatMap((row) => [piece(text, 100 + 14 * row), piece(text, 100 + 14 * row, { x: 320 })]);
    expect(orderColumns(rows('a label'))).toHaveLength(1);
    expect(orderColumns(rows('a line of ordinary prose'))).toHaveLength(2);
  });

  test('are no table where cells hold paragraphs', () => {
    const tableOf = (length: number) => {
      const words = 'word '.repeat(length / 5).trimEnd();
      const rows = [0, 1].map(() => [{ text: words }, { text: words }]);
      const texts = [0, 1, 2, 3].map((at) => piece(words, 100 + 14 * at));
      const bbox = { x: 0, y: 0, width: 600, height: 400 };
      return placeFoundTables(texts, [{ kind: 'table', bbox, rows }]).some(({ table }) => table);
    };
    expect(tableOf(80)).toBe(true);
    expect(tableOf(200)).toBe(false);
  });
});
