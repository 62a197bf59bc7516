import { describe, expect, test } from '@jest/globals';
import { addRecognized } from '../../../../src/readers/formats/pdf/recognize-page.js';
import type { Piece } from '../../../../src/readers/formats/pages/layout/piece.js';

const piece = (text: string, x: number, y: number, table?: Piece['table']): Piece => ({
  text,
  x,
  y,
  width: 100,
  height: 10,
  size: 10,
  isBold: false,
  ...(table && { table }),
});

/** Tells whether recognized texts are added to a page that says something in another place. */
const added = (page: Piece, recognized: string): boolean =>
  addRecognized([page], [piece(recognized, 0, 500)]).length === 2;

describe('text recognized in the pictures of a page', () => {
  test('is left out where the page has a text of its own, whatever was recognized there', () => {
    const own = piece('Größe', 50, 50);
    const found = [piece('GroBe', 51, 51), piece('GroBe', 49, 49), piece('Scale', 50, 70)];
    expect(addRecognized([own], found).map(({ text }) => text)).toEqual(['Größe', 'Scale']);
  });

  test('is left out up to two points beside a text, since recognition is not exact', () => {
    const own = { ...piece('Größe', 50, 50), width: 20 };
    const found = [50 + 21, 50 + 23].map((middle) => ({ ...piece('GroBe', middle - 5, 50), width: 10 }));
    expect(addRecognized([own], found)).toEqual([own, found[1]]);
  });

  test('is left out where the page says its words elsewhere', () => {
    expect(added(piece('A map of the  Harbour, 1872', 0, 0), 'harbour 1872')).toBe(false);
    const table = [{ cells: ['Harbour', '1872'], box: undefined }];
    expect(added(piece('', 0, 0, table), 'Harbour 1872')).toBe(false);
  });

  test('is read where the page only holds its letters, within words or across them', () => {
    expect(added(piece('Harbours', 0, 0), 'Harbour')).toBe(true);
    expect(added(piece('ahead of the art', 0, 0), 'heart')).toBe(true);
  });

  test('is read where it is too short to be the same', () => {
    expect(added(piece('Berth 12 A', 0, 0), '12 A')).toBe(false);
    expect(added(piece('Berth 12 A', 0, 0), '12')).toBe(true);
  });
});
