import type { Json, FilterableDocument } from '../document.js';

/**
 * Parses an ISO 8601 date, with or without a time, to milliseconds since 1970; null for anything else. The result is a
 * double, which in our century resolves about a quarter of a microsecond. A time without a zone is UTC, and a date
 * alone is its midnight. A blank may stand for the `T`, as RFC 3339 allows. It is parsed by hand because filters do it
 * for every document.
 */
export function parseInstant(text: string): number | null {
  const day = parseDay(text);
  if (day === null) return null;
  if (text.length === 10) return day;
  const separator = text.charAt(10);
  if (separator !== 'T' && separator !== 't' && separator !== ' ') return null;

  const minutes = parseMinutes(text, 11);
  if (minutes === null) return null;
  const seconds = text.charAt(16) === ':' ? twoDigits(text, 17) : 0;
  if (seconds < 0 || seconds > 59) return null;
  const fractionAt = text.charAt(16) === ':' ? 19 : 16;
  const zoneAt = fractionAt === 19 ? endOfFraction(text, fractionAt) : fractionAt;
  if (zoneAt === null) return null;
  const offset = parseZone(text.slice(zoneAt));
  if (offset === null) return null;

  const milliseconds = zoneAt > fractionAt ? Number(`0.${text.slice(fractionAt + 1, zoneAt)}`) * 1000 : 0;
  return day + (minutes - offset) * 60_000 + seconds * 1000 + milliseconds;
}

/** The midnight that the first ten characters name, in milliseconds. */
function parseDay(text: string): number | null {
  if (text.charAt(4) !== '-' || text.charAt(7) !== '-') return null;
  const century = twoDigits(text, 0);
  const yearOfCentury = twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (century < 0 || yearOfCentury < 0 || month < 1 || month > 12 || day < 1) return null;
  const year = century * 100 + yearOfCentury;
  return day > daysInMonth(year, month) ? null : daysSinceEpoch(year, month, day) * 86_400_000;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Counts days in the proleptic Gregorian calendar, after H. Hinnant, "chrono-Compatible Low-Level Date Algorithms". */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function parseMinutes(text: string, at: number): number | null {
  const hours = twoDigits(text, at);
  const minutes = twoDigits(text, at + 3);
  if (text.charAt(at + 2) !== ':' || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return null;
  return hours * 60 + minutes;
}

/** The end of the digits after a decimal sign: `at` itself without a sign, null for a sign without digits. */
function endOfFraction(text: string, at: number): number | null {
  if (text.charAt(at) !== '.' && text.charAt(at) !== ',') return at;
  let end = at + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end === at + 1 ? null : end;
}

/** Minutes east of UTC. A zone is empty, `Z`, `+02`, `+0200` or `+02:00`. */
function parseZone(zone: string): number | null {
  if (zone === '' || zone === 'Z' || zone === 'z') return 0;
  const sign = zone.startsWith('+') ? 1 : -1;
  if (sign === -1 && !zone.startsWith('-')) return null;
  if (zone.length === 3) return parseOffset(`${zone.slice(1)}:00`, sign);
  if (zone.length === 5) return parseOffset(`${zone.slice(1, 3)}:${zone.slice(3)}`, sign);
  return zone.length === 6 ? parseOffset(zone.slice(1), sign) : null;
}

function parseOffset(text: string, sign: number): number | null {
  const minutes = parseMinutes(text, 0);
  return minutes === null ? null : sign * minutes;
}

/** The number that two digits write; -1 when they are no digits. */
function twoDigits(text: string, at: number): number {
  const high = text.charCodeAt(at);
  const low = text.charCodeAt(at + 1);
  return isDigit(high) && isDigit(low) ? (high - 48) * 10 + low - 48 : -1;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** A document's texts as instants, in milliseconds since 1970. A text that is no date is NaN, which no comparison matches. */
interface Instants {
  ofText(text: string): number;
  ofList(values: readonly Json[]): Float64Array;
}

/**
 * Parses each date of a document once, however many conditions of a filter compare it: 64 conditions on a list of 128
 * dates would parse 8,192. Only the last document is remembered, since filters go through documents one by one.
 */
export function createInstantMemo(): (document: FilterableDocument) => Instants {
  let last: { readonly document: FilterableDocument; readonly instants: Instants } | null = null;
  return (document) => {
    if (last?.document !== document) last = { document, instants: createInstants() };
    return last.instants;
  };
}

function createInstants(): Instants {
  const texts = new Map<string, number>();
  const lists = new Map<readonly Json[], Float64Array>();
  const ofText = (text: string): number => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    const instant = parseInstant(text) ?? NaN;
    texts.set(text, instant);
    return instant;
  };
  const ofList = (values: readonly Json[]): Float64Array => {
    const known = lists.get(values);
    if (known) return known;
    const instants = Float64Array.from(values, (value) => (typeof value === 'string' ? ofText(value) : NaN));
    lists.set(values, instants);
    return instants;
  };
  return { ofText, ofList };
}
