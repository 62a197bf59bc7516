import { parseInstant } from './instants.js';

/**
 * A date that is relative to the moment of a request: `now`, and up to four steps from there, one after the other. `-7d` and
 * `+1h` add or take away, `/d` goes back to the beginning of the day. The signs are those of Elasticsearch and Grafana.
 */
const RELATIVE = /^now(?:(?:[+-]\d{1,6}|\/)[smhdwMy]){0,4}$/;
const STEP = /(?:([+-])(\d{1,6})|\/)([smhdwMy])/g;

const MILLISECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 7 * 86_400_000],
]);
/** Weeks begin on Mondays; 1970 began on a Thursday. */
const FIRST_MONDAY = 4 * 86_400_000;
/** The years that dates of ISO 8601 can write in four digits. */
const EARLIEST = parseInstant('0000-01-01') ?? 0;
const LATEST = parseInstant('9999-12-31T23:59:59.999') ?? 0;

/**
 * Returns the instant that a relative date names, in milliseconds since 1970; null for any other text, and for a date beyond
 * the years 0000 to 9999. Everything is in UTC: a day has 24 hours, and a step by months ends on the last day of a shorter
 * month.
 */
export function parseRelativeDate(text: string, now: number): number | null {
  if (!RELATIVE.test(text)) return null;
  let instant = now;
  for (const [, sign, amount = '', unit = ''] of text.matchAll(STEP)) {
    instant =
      sign === undefined ? beginningOf(unit, instant) : add(Number(`${sign}${amount}`), unit, instant);
    if (!(instant >= EARLIEST && instant <= LATEST)) return null;
  }
  return instant;
}

function add(amount: number, unit: string, instant: number): number {
  const milliseconds = MILLISECONDS.get(unit);
  if (milliseconds !== undefined) return instant + amount * milliseconds;
  const date = new Date(instant);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + (unit === 'y' ? 12 * amount : amount));
  const next = new Date(date);
  next.setUTCMonth(next.getUTCMonth() + 1, 0);
  return date.setUTCDate(Math.min(day, next.getUTCDate()));
}

function beginningOf(unit: string, instant: number): number {
  const milliseconds = MILLISECONDS.get(unit);
  if (milliseconds !== undefined) {
    const from = unit === 'w' ? FIRST_MONDAY : 0;
    return from + Math.floor((instant - from) / milliseconds) * milliseconds;
  }
  const date = new Date(instant);
  date.setUTCHours(0, 0, 0, 0);
  return unit === 'y' ? date.setUTCMonth(0, 1) : date.setUTCDate(1);
}
