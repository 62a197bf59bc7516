import { at } from '../../../../shared/at.js';

/**
 * Languages by the primary part of Windows' identifiers (MS-LCID, 2.2), which format codes name as in `[$-407]`. Each is
 * two characters; the first one has the identifier 1, and `--` stands for languages without names of months here.
 */
const LANGUAGES =
  'ar bg ca zh cs da de el en es fi fr he hu is it ja ko nl nb pl pt rm ro ru hr sk sq sv th tr ur id uk be sl et lv lt tg fa vi hy az eu -- mk -- -- -- -- -- -- af ka fo hi mt -- -- -- ms kk ky sw tk uz tt bn pa gu or ta te kn ml as mr sa mn bo cy km lo my gl'.split(
    ' ',
  );

/** The flag of dates whose months stand in the genitive, as in `[$-FC19]`. */
const GENITIVE = 0xfc00;
const NAME = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/;

/** The language of the names in dates. */
export interface FormatLanguage {
  /** BCP 47. */
  readonly tag: string;
  /** True if months have the form that stands beside a day, such as `марта` for `март`. */
  readonly isBesideDay: boolean;
  /** The calendar that years and eras are counted by. */
  readonly calendar: Calendar;
}

type Calendar = 'gregory' | 'buddhist' | 'japanese' | 'roc';

/** Calendars by the third byte of `[$-107041E]`. Months and days are the same in these. */
const CALENDARS: ReadonlyMap<number, Calendar> = new Map([
  [3, 'japanese'],
  [4, 'roc'],
  [7, 'buddhist'],
]);
const TAIWAN = 0x404;

function calendarOf(code: number, tag: string): Calendar {
  const named = CALENDARS.get((code >>> 16) & 0xff);
  return named ?? ((code & 0xffff) === TAIWAN ? 'roc' : tag === 'ja' ? 'japanese' : 'gregory');
}

/** Reads the part behind the dash of `[$-407]`, `[$€-407]` or `[$-de-DE]`; undefined where it names no language. */
export function formatLanguage(code: string): FormatLanguage | undefined {
  if (/^[0-9a-f]{1,8}$/i.test(code)) {
    const number = Number.parseInt(code, 16);
    const identifier = number & 0xffff;
    const language = LANGUAGES[(identifier & 0x3ff) - 1] ?? '--';
    if (language === '--') return undefined;
    const isBesideDay = (identifier & GENITIVE) === GENITIVE;
    return { tag: language, isBesideDay, calendar: calendarOf(number, language) };
  }
  const tag = at(code.split(/,|-x-/), 0);
  if (!NAME.test(tag) || !isKnown(tag)) return undefined;
  const calendar = /^zh-TW/i.test(tag) ? 'roc' : /^ja\b/i.test(tag) ? 'japanese' : 'gregory';
  return { tag, isBesideDay: false, calendar };
}

function isKnown(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The year that `yyyy` shows. */
export const yearShown = (year: number, { calendar }: FormatLanguage): number =>
  calendar === 'buddhist' ? year + 543 : year;

/** Returns the year that `e` shows: the year of the era where the calendar has eras. */
export function yearOfEra({ year, month, day }: Day, { calendar }: FormatLanguage): number {
  if (calendar === 'gregory') return year;
  const shown = part('year', {
    tag: 'en',
    date: Date.UTC(year, month - 1, day),
    options: { year: 'numeric', era: 'short' },
    calendar,
  });
  return Number(shown) || year;
}

/** The name of an era as `g` (R), `gg` (令) or `ggg` (令和) shows it; empty in calendars without eras. */
export function eraName(
  { year, month, day }: Day,
  length: number,
  { tag, calendar }: FormatLanguage,
): string {
  if (calendar !== 'japanese' && calendar !== 'roc') return '';
  const era = length === 1 ? 'narrow' : 'long';
  const date = Date.UTC(year, month - 1, day);
  const name = part('era', {
    tag: calendar === 'roc' ? 'zh-TW' : tag,
    date,
    options: { year: 'numeric', era },
    calendar,
  });
  return length === 2 && calendar === 'japanese' ? name.slice(0, 1) : name;
}

type Length = 'long' | 'short' | 'narrow';

/** Months count from 1. */
export function monthName(month: number, length: Length, { tag, isBesideDay }: FormatLanguage): string {
  const options = { month: length, ...(isBesideDay ? { day: 'numeric' as const } : {}) };
  return part('month', { tag, date: Date.UTC(2024, month - 1, 1), options });
}

/** Days of the week count from 0, which is Sunday. */
export function dayName(weekday: number, length: Length, { tag }: FormatLanguage): string {
  // The first day of September 2024 is a Sunday.
  return part('weekday', { tag, date: Date.UTC(2024, 8, 1 + weekday), options: { weekday: length } });
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Formats of a file's languages are made once, since each takes a tenth of a millisecond. */
const MAX_FORMATS = 200;

function part(
  type: 'month' | 'weekday' | 'year' | 'era',
  {
    tag,
    date,
    options,
    calendar = 'gregory',
  }: { tag: string; date: number; options: Intl.DateTimeFormatOptions; calendar?: Calendar },
): string {
  const key = JSON.stringify([tag, options, calendar]);
  const made =
    formats.get(key) ?? new Intl.DateTimeFormat(`${tag}-u-ca-${calendar}`, { ...options, timeZone: 'UTC' });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(key, made);
  // Chinese and Japanese write a sign behind the number of a month, which is no part of it.
  if (Object.keys(options).length === 1) return made.format(date);
  return made.formatToParts(date).find((each) => each.type === type)?.value ?? '';
}
