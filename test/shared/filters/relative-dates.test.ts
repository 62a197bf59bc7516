import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import { parseFilter } from '../../../src/shared/filters/parse.js';
import { parseRelativeDate } from '../../../src/shared/filters/relative-dates.js';
import { relativeTo } from '../../support/filter-oracle.js';
import { matchable } from '../../support/matchable.js';

/** A Saturday. */
const now = Date.UTC(2026, 10, 28, 9, 8, 7, 6);
const iso = (text: string, at = now) => {
  const instant = parseRelativeDate(text, at);
  return instant === null ? null : new Date(instant).toISOString();
};

describe('a relative date', () => {
  test.each([
    ['now', '2026-11-28T09:08:07.006Z'],
    ['now-7d', '2026-11-21T09:08:07.006Z'],
    ['now+1h', '2026-11-28T10:08:07.006Z'],
    ['now-90s', '2026-11-28T09:06:37.006Z'],
    ['now-90m', '2026-11-28T07:38:07.006Z'],
    ['now-2w', '2026-11-14T09:08:07.006Z'],
    ['now-1M', '2026-10-28T09:08:07.006Z'],
    ['now+3M', '2027-02-28T09:08:07.006Z'],
    ['now-1y', '2025-11-28T09:08:07.006Z'],
    ['now/s', '2026-11-28T09:08:07.000Z'],
    ['now/m', '2026-11-28T09:08:00.000Z'],
    ['now/h', '2026-11-28T09:00:00.000Z'],
    ['now/d', '2026-11-28T00:00:00.000Z'],
    ['now/w', '2026-11-23T00:00:00.000Z'],
    ['now/M', '2026-11-01T00:00:00.000Z'],
    ['now/y', '2026-01-01T00:00:00.000Z'],
    ['now-1M/M', '2026-10-01T00:00:00.000Z'],
    ['now/d-1d+8h+30m', '2026-11-27T08:30:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  test('ends on the last day of a month that is shorter, and begins a week on its Monday', () => {
    expect(iso('now-1M', Date.UTC(2026, 2, 31))).toBe('2026-02-28T00:00:00.000Z');
    expect(iso('now+1y', Date.UTC(2024, 1, 29))).toBe('2025-02-28T00:00:00.000Z');
    expect(iso('now/w', Date.UTC(2026, 10, 23))).toBe('2026-11-23T00:00:00.000Z');
    expect(iso('now/w', Date.UTC(1969, 11, 31))).toBe('1969-12-29T00:00:00.000Z');
  });

  test('is none beyond the years that dates write in four digits', () => {
    expect(iso('now-2026y/y')).toBe('0000-01-01T00:00:00.000Z');
    expect(iso('now-2027y')).toBeNull();
    expect(iso('now+7973y')).toBe('9999-11-28T09:08:07.006Z');
    expect(iso('now+999999y-999999y')).toBeNull();
  });

  test('agrees with the calendar of JavaScript', () => {
    const unit = fc.constantFrom('s', 'm', 'h', 'd', 'w', 'M', 'y');
    const step = fc.oneof(
      fc
        .tuple(fc.integer({ min: -400, max: 400 }), unit)
        .map(([n, of]) => `${n < 0 ? '' : '+'}${String(n)}${of}`),
      unit.map((of) => `/${of}`),
    );
    const at = fc.integer({ min: Date.UTC(1940, 0), max: Date.UTC(2100, 0) });
    fc.assert(
      fc.property(at, fc.array(step, { maxLength: 4 }), (from, steps) => {
        const text = `now${steps.join('')}`;
        const expected = relativeTo(new Date(from), text);
        fc.pre(expected.getUTCFullYear() >= 0);
        fc.pre(parseRelativeDate(text, from) !== null);
        expect(iso(text, from)).toBe(expected.toISOString());
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('in a filter', () => {
  const holds = (json: unknown, at: string) => {
    const parsed = parseFilter(json, now);
    if ('errors' in parsed || parsed.filter === null) throw new Error('no filter');
    return matchesFilter(matchable({ at }), parsed.filter);
  };

  test('all relative dates count from the same moment, and are compared as instants', () => {
    expect(holds({ at: { $gte: 'now-7d', $lt: 'now' } }, '2026-11-21T10:08:07.006+01:00')).toBe(true);
    expect(holds({ at: { $gt: 'now-7d' } }, '2026-11-21T10:08:07.006+01:00')).toBe(false);
    expect(holds({ at: { $gte: 'now/d', $lte: 'now/d' } }, '2026-11-28')).toBe(true);
  });

  test('a value to be equal to is a text, whatever it says', () => {
    for (const filter of [{ at: 'now-7d' }, { at: { $eq: 'now-7d' } }, { at: { $in: ['now-7d'] } }]) {
      expect(holds(filter, 'now-7d')).toBe(true);
      expect(holds(filter, '2026-11-21T09:08:07.006Z')).toBe(false);
    }
    expect(holds({ at: { $gt: 'now-7d' } }, 'now')).toBe(false);
  });
});
