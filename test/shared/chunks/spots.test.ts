import { describe, expect, test } from '@jest/globals';
import {
  MAX_PACKED_SPOTS,
  MAX_SPOTS,
  packSpots,
  placeOfPart,
  unpackSpots,
} from '../../../src/shared/chunks/spots.js';

const box = (y: number) => ({ x: 72.1, y, width: 450.3, height: 12 });

describe('packed spots', () => {
  test('are read as they were written', () => {
    for (const spots of [
      [],
      [{ start: 0, number: 1 }],
      [
        { start: 0, number: 3, box: box(700.5) },
        { start: 80, number: 3, box: box(714.2) },
        { start: 200, number: 4, box: { x: -3.5, y: 0, width: 6_000, height: 0.1 } },
        { start: 70_000, number: 1_048_576 },
        { start: 70_001, number: 2, box: box(1) },
      ],
    ])
      expect(unpackSpots(packSpots(spots))).toEqual(spots);
  });

  test('take some ten bytes for a line of a page', () => {
    const lines = Array.from({ length: 40 }, (_, i) => ({
      start: 85 * i,
      number: 7,
      box: box(72 + 14.4 * i),
    }));
    expect(packSpots(lines).length).toBeLessThan(40 * 14);
  });

  test('are bounded, and so is their form', () => {
    const wide = { x: 100_000, y: -100_000, width: 100_000, height: -100_000 };
    const many = Array.from({ length: 2 * MAX_SPOTS }, (_, i) => ({
      start: i,
      number: i % 2 ? 1 : 1e9,
      box: i % 2 ? wide : box(1),
    }));
    expect(packSpots(many).length).toBeLessThanOrEqual(MAX_PACKED_SPOTS);
    const [last, ...others] = unpackSpots(packSpots(many)).reverse();
    expect(others.reverse()).toEqual(many.slice(0, MAX_SPOTS - 1));
    // The lines behind it are not told.
    expect(last).toEqual({ start: MAX_SPOTS - 1, number: 1, box: undefined });
  });

  test.each([Infinity, -Infinity, Number.NaN, 1e300, -1e9])('have no rectangle with a side of %p', (side) => {
    const spots = [
      { start: 0, number: 1, box: { ...box(1), width: side } },
      { start: 9, number: 1, box: box(2) },
    ];
    expect(unpackSpots(packSpots(spots))).toEqual([{ start: 0, number: 1 }, spots[1]]);
  });

  test('that are cut off or nonsense are none', () => {
    const packed = packSpots([{ start: 1, number: 2, box: box(3) }]);
    for (const broken of [packed.slice(0, -3), '____', '!', null, undefined, ''])
      expect(unpackSpots(broken)).toEqual([]);
  });
});

describe('the place of a part of a chunk', () => {
  const text = 'First line of it. Second\nline goes on. Third line is elsewhere.';
  const partOf = (words: string) => ({ start: text.indexOf(words), end: text.indexOf(words) + words.length });

  test('is the page that it stands on, with the lines that it touches', () => {
    const spots = packSpots([
      { start: 0, number: 2, box: box(700) },
      { start: 25, number: 2, box: box(714) },
      { start: 39, number: 3, box: box(72) },
    ]);
    const located = { text, location: { pages: { first: 2, last: 3 } }, spots };
    expect(placeOfPart(located, partOf('Second\nline goes on.'))).toMatchObject({
      page: 2,
      boxes: [
        { page: 2, ...box(700) },
        { page: 2, ...box(714) },
      ],
    });
    expect(placeOfPart(located, partOf('Third line'))).toMatchObject({
      page: 3,
      boxes: [{ page: 3, ...box(72) }],
    });
  });

  test('is told as far as older chunks tell it', () => {
    const part = partOf('Third');
    expect(placeOfPart({ text, location: { pages: { first: 2, last: 2 } }, spots: '' }, part).page).toBe(2);
    expect(
      placeOfPart({ text, location: { pages: { first: 2, last: 3 } }, spots: '' }, part).page,
    ).toBeUndefined();
    expect(placeOfPart({ text, location: null, spots: '' }, part)).toEqual({});
  });

  test('is a line, counted within its block', () => {
    const located = {
      text,
      location: { lines: { first: 10, last: 11 } },
      spots: packSpots([{ start: 0, number: 10 }]),
    };
    expect(placeOfPart(located, partOf('First')).line).toBe(10);
    expect(placeOfPart(located, partOf('Third')).line).toBe(11);
  });

  test('is a slide, or rows of a sheet', () => {
    const spots = packSpots([
      { start: 0, number: 4 },
      { start: 18, number: 5 },
      { start: 39, number: 6 },
    ]);
    const at = { text, spots };
    expect(placeOfPart({ ...at, location: { slides: { first: 4, last: 6 } } }, partOf('Second')).slide).toBe(
      5,
    );
    expect(
      placeOfPart(
        { ...at, location: { sheet: 'Costs', rows: { first: 4, last: 6 } } },
        partOf('Second\nline goes on. Third'),
      ),
    ).toMatchObject({ sheet: 'Costs', rows: { first: 5, last: 6 } });
  });
});
