import { describe, expect, test } from '@jest/globals';
import {
  comparePlaces,
  listValue,
  nameMatcher,
  NEWEST_FIRST,
  pageOf,
} from '../../../src/shared/documents/list-order.js';
import { makeContent, makeDocument } from '../../support/documents.js';

const named = (filename: string | null) => makeDocument({ pending: makeContent({ filename }) });
const place = (id: string, value: string) => ({ id, value });

describe('the order of a list', () => {
  test('is that of its values, in either direction, and documents of equal ones are by id in both', () => {
    const places = [place('2', 'b'), place('1', 'c'), place('4', 'a'), place('3', 'b')];
    const sorted = (isDescending: boolean) =>
      places.toSorted((a, b) => comparePlaces(a, b, { by: 'name', isDescending })).map(({ id }) => id);
    expect(sorted(false)).toEqual(['4', '2', '3', '1']);
    expect(sorted(true)).toEqual(['1', '2', '3', '4']);
    expect(comparePlaces(place('1', 'a'), place('1', 'a'), NEWEST_FIRST)).toBeCloseTo(0);
    expect(NEWEST_FIRST).toEqual({ by: 'created', isDescending: true });
  });

  test('is by when documents were made or changed, in whatever form of ISO 8601 that is written', () => {
    const record = makeDocument({
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T12:00:00+01:00',
    });
    expect(listValue(record, 'created')).toBe('2026-03-01T10:00:00.000Z');
    expect(listValue(record, 'updated')).toBe('2026-03-01T11:00:00.000Z');
    expect(listValue({ ...record, createdAt: 'some day' }, 'created')).toBe('some day');
    for (const other of ['x2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.000Zx'])
      expect(listValue({ ...record, createdAt: other }, 'created')).toBe(other);
  });

  test('is by names without case and marks, and documents without a name come last', () => {
    expect(listValue(named('Zürich.PDF'), 'name')).toBe('zurich.pdf');
    expect(listValue(named('Straße'), 'name')).toBe(listValue(named('STRASSE'), 'name'));
    const last = place('a', listValue(named(null), 'name'));
    expect(
      comparePlaces(place('b', listValue(named('\u{1f600}'), 'name')), last, {
        by: 'name',
        isDescending: false,
      }),
    ).toBe(-1);
  });

  test('is that of the first 256 letters of long names', () => {
    const [one, other] = ['a', 'b'].map((end) => listValue(named('x'.repeat(256) + end), 'name'));
    expect(one).toBe('x'.repeat(256));
    expect(other).toBe(one);
  });

  test('is by the name of the content that is shown, and of the one that replaces it once that is published', () => {
    const record = makeDocument({
      published: makeContent({ filename: 'shown' }),
      pending: makeContent({ filename: 'later' }),
    });
    expect(listValue(record, 'name')).toBe('shown');
    expect(listValue({ ...record, published: record.pending }, 'name')).toBe('later');
  });
});

describe('a page of a list', () => {
  const places = ['a', 'b', 'c'].map((id) => place(id, `value of ${id}`));

  test('says where the list goes on: after its last document, and how many were before that', () => {
    expect(pageOf(places, { skip: 4, limit: 2 })).toEqual({
      ids: ['a', 'b'],
      next: { id: 'b', value: 'value of b', rank: 6 },
    });
    const after = { ...place('x', ''), rank: 10 };
    expect(pageOf(places, { skip: 0, limit: 2, after }).next?.rank).toBe(12);
  });

  test('says that nothing follows when all documents are on it, or none was asked for', () => {
    expect(pageOf(places, { skip: 0, limit: 3 })).toEqual({ ids: ['a', 'b', 'c'], next: null });
    expect(pageOf(places, { skip: 0, limit: 0 })).toEqual({ ids: [], next: null });
  });
});

describe('documents by words of their names', () => {
  const finds = (text: string | null, filename: string | null) => nameMatcher(text)(named(filename));

  test('are found when each word is somewhere in the name, without case and marks', () => {
    expect(finds('report ZUR', 'Report Zürich 2026.pdf')).toBe(true);
    expect(finds('  2026   rep ', 'Report Zürich 2026.pdf')).toBe(true);
    expect(finds('report bern', 'Report Zürich 2026.pdf')).toBe(false);
  });

  test('are all found by no text, and those without a name by no word', () => {
    expect(finds(null, null)).toBe(true);
    expect(finds('x', null)).toBe(false);
    expect(finds(' ', 'x')).toBe(true);
  });
});
