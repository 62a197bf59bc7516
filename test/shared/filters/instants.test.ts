import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseInstant } from '../../../src/shared/filters/instants.js';

const anyDate = fc.date({
  min: new Date('0000-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});

describe('an instant', () => {
  test('of every year is what Date makes of it', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(parseInstant(date.toISOString())).toBe(date.getTime());
        const midnight = date.toISOString().slice(0, 10);
        expect(parseInstant(midnight)).toBe(new Date(`${midnight}T00:00:00Z`).getTime());
      }),
      { numRuns: 2000 },
    );
  });

  test('is the same in every zone', () => {
    const minutes = fc.integer({ min: -23 * 60, max: 23 * 60 });
    fc.assert(
      fc.property(anyDate, minutes, (date, offset) => {
        const local = new Date(date.getTime() + offset * 60_000);
        fc.pre(local.getTime() >= Date.parse('0000-01-01') && local.getUTCFullYear() <= 9999);
        const clock = new Date(Math.abs(offset) * 60_000).toISOString().slice(11, 16);
        const text = `${local.toISOString().slice(0, -1)}${offset < 0 ? '-' : '+'}${clock}`;
        expect(parseInstant(text)).toBe(date.getTime());
      }),
    );
  });

  test.each([
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-02-29T10:20', '2024-02-29T10:20:00.000Z'],
    ['2024-02-29T10:20+01', '2024-02-29T09:20:00.000Z'],
    ['2024-02-29t10:20:30z', '2024-02-29T10:20:30.000Z'],
    ['2024-02-29 10:20:30', '2024-02-29T10:20:30.000Z'],
    ['2024-02-29T10:20:30,5-0130', '2024-02-29T11:50:30.500Z'],
  ])('%s is %s', (text, expected) => {
    expect(new Date(parseInstant(text) ?? NaN).toISOString()).toBe(expected);
  });

  test.each([
    '',
    '2024',
    '2024-02',
    '2024-2-29',
    '20240229',
    '1900-02-29',
    '2024-04-31',
    '2024-00-10',
    '2024-01-00',
    '2024-02-29T',
    '2024-02-29T10',
    '2024-02-29T24:00',
    '2024-02-29T10:60',
    '2024-02-29T10:20:60Z',
    '2024-02-29T10:20:30.',
    '2024-02-29T10:20:30.Z',
    '2024-02-29T10:20.5',
    '2024-02-29Z',
    '2024-02-29T10:20 ',
    '2024-02-29T10:20:30ZZ',
    '2024-02-29T10:20+1',
    '2024-02-29T10:20+25:00',
    '2024-02-29T10:20+01:',
    '-024-01-01',
    '2024-02-29T10:20:3',
    '2024-02-29T10:20:30+1:00',
    '２０24-01-01',
    ' 2024-02-29',
    '2024-02-29T10:20:30 Z',
  ])('is nothing when it reads %j', (text) => {
    expect(parseInstant(text)).toBeNull();
  });
});

test('a time of a day that there is not, and one with a zone of no sign, are no instants', () => {
  for (const text of [
    '2026-13-01T10:00Z',
    '2026-02-30T10:00',
    '2026-01-01T10:00x02',
    '2026-01-01T10:00 02:00',
  ])
    expect(parseInstant(text)).toBeNull();
});
