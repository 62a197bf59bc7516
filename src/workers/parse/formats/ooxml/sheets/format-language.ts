/**
 * Languages by the primary part of Windows' identifiers (MS-LCID, 2.2), which format codes name as in `[$-407]`. Each is two
 * characters; the first one has the identifier 1, and `--` stands for those without names of months here.
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
  /** Whether months have the form that stands beside a day, such as `марта` for `март`. */
  readonly isBesideDay: boolean;
}

/** Reads what stands behind the dash of `[$-407]`, `[$€-407]` or `[$-de-DE]`; undefined for what names no language. */
export function formatLanguage(code: string): FormatLanguage | undefined {
  if (/^[0-9a-f]{1,8}$/i.test(code)) {
    const identifier = Number.parseInt(code, 16) & 0xffff;
    const language = LANGUAGES[(identifier & 0x3ff) - 1] ?? '--';
    if (language === '--') return undefined;
    return { tag: language, isBesideDay: (identifier & GENITIVE) === GENITIVE };
  }
  const [tag = ''] = code.split(',');
  return NAME.test(tag) && isKnown(tag) ? { tag, isBesideDay: false } : undefined;
}

function isKnown(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
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
  type: 'month' | 'weekday',
  { tag, date, options }: { tag: string; date: number; options: Intl.DateTimeFormatOptions },
): string {
  const key = JSON.stringify([tag, options]);
  const made =
    formats.get(key) ?? new Intl.DateTimeFormat(`${tag}-u-ca-gregory`, { ...options, timeZone: 'UTC' });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(key, made);
  // Chinese and Japanese write a sign behind the number of a month, which is no part of it.
  if (Object.keys(options).length === 1) return made.format(date);
  return made.formatToParts(date).find((each) => each.type === type)?.value ?? '';
}
