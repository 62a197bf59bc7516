import type { FormatToken } from './format-code.js';
import { dayName, eraName, monthName, yearOfEra, yearShown, type FormatLanguage } from './format-language.js';

const DAY = 86_400_000;
/** The language of dates whose format names none. */
const ENGLISH: FormatLanguage = { tag: 'en', isBesideDay: false, calendar: 'gregory' };
/** The language of eras whose format names none. */
const JAPANESE: FormatLanguage = { tag: 'ja', isBesideDay: false, calendar: 'japanese' };
/** The last day that can be shown, the end of the year 9999. */
const LAST_SERIAL = 2_958_466;

export interface DateSystem {
  /** True if days are counted from 1904 instead of 1900. */
  readonly is1904: boolean;
}

interface Moment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

/**
 * Formats a number of days as a date or time; undefined when it is none. The system of 1900 has a 29 February 1900, as
 * Excel has it (ECMA-376 part 1, 18.17.4.1).
 */
export function formatDate(
  serial: number,
  tokens: readonly FormatToken[],
  { is1904 }: DateSystem,
): string | undefined {
  if (!(serial >= 0 && serial < LAST_SERIAL)) return undefined;
  const decimals = fractionDigits(tokens);
  const moment = momentOf(serial, is1904, decimals);
  const isHalved = tokens.some(({ type }) => type === 'noon');
  const named = tokens.find((token) => token.type === 'language');
  const hasEra = tokens.some((token) => token.type === 'date' && token.text.startsWith('g'));
  const shown = { isHalved, language: named?.language ?? (hasEra ? JAPANESE : ENGLISH) };
  let text = '';
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'date')
      text += datePart(token.text, moment, { ...shown, isMinutes: isMinute(tokens, index) });
    else if (token.type === 'elapsed') text += elapsed(token.text, serial);
    else if (token.type === 'noon') text += noonPart(token.text, moment.hours);
    else if (token.type === 'literal') text += token.text;
    else if (token.type === 'point')
      text += decimals === 0 ? '.' : `.${pad(moment.milliseconds, 3).slice(0, decimals)}`;
    else text += SIGNS[token.type] ?? '';
  }
  return text.trim();
}

/** Signs that mean themselves in dates. */
const SIGNS: Readonly<Partial<Record<FormatToken['type'], string>>> = {
  comma: ',',
  fraction: '/',
  percent: '%',
};

/** Returns the number of digits of a second that are shown, after a point. */
function fractionDigits(tokens: readonly FormatToken[]): number {
  const point = tokens.findIndex(({ type }) => type === 'point');
  if (point === -1) return 0;
  const end = tokens.findIndex(({ type }, index) => index > point && type !== 'digit');
  return Math.min(3, (end === -1 ? tokens.length : end) - point - 1);
}

function momentOf(serial: number, is1904: boolean, decimals: number): Moment {
  const step = 1000 / 10 ** decimals;
  const time = Math.round((serial * DAY) / step) * step;
  const whole = Math.floor(time / DAY);
  const rest = time - whole * DAY;
  const clock = {
    hours: Math.floor(rest / 3_600_000),
    minutes: Math.floor(rest / 60_000) % 60,
    seconds: Math.floor(rest / 1000) % 60,
    milliseconds: Math.round(rest % 1000),
  };
  if (!is1904 && whole === 60) return { year: 1900, month: 2, day: 29, weekday: 3, ...clock };
  const shift = is1904 ? 1462 : whole < 60 ? 1 : 0;
  const date = new Date(Date.UTC(1899, 11, 30) + (whole + shift) * DAY);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    ...clock,
  };
}

/** The letter m means minutes after hours and before seconds, and months elsewhere. */
function isMinute(tokens: readonly FormatToken[], index: number): boolean {
  const isTime = (token: FormatToken | undefined, letter: string): boolean =>
    token !== undefined &&
    (token.type === 'date' || token.type === 'elapsed') &&
    token.text.startsWith(letter);
  const isUnit = ({ type }: FormatToken): boolean => type === 'date' || type === 'elapsed';
  const before = tokens.slice(0, index).findLast(isUnit);
  const after = tokens.slice(index + 1).find(isUnit);
  return isTime(before, 'h') || isTime(after, 's');
}

interface Shown {
  /** True if hours go up to twelve. */
  readonly isHalved: boolean;
  /** True if the letter m means minutes. */
  readonly isMinutes: boolean;
  readonly language: FormatLanguage;
}

function datePart(code: string, moment: Moment, { isHalved, isMinutes, language }: Shown): string {
  const length = code.length;
  switch (code.charAt(0)) {
    case 'y':
      return yearPart(yearShown(moment.year, language), length);
    case 'e':
      return pad(yearOfEra(moment, language), length);
    case 'g':
      return eraName(moment, length, language);
    case 'm':
      return isMinutes ? pad(moment.minutes, Math.min(2, length)) : monthPart(moment.month, length, language);
    case 'd':
      return dayPart(moment, length, language);
    case 'h':
      return pad(isHalved ? moment.hours % 12 || 12 : moment.hours, Math.min(2, length));
    default:
      return pad(moment.seconds, Math.min(2, length));
  }
}

const yearPart = (year: number, length: number): string => (length > 2 ? pad(year, 4) : pad(year % 100, 2));

function monthPart(month: number, length: number, language: FormatLanguage): string {
  if (length <= 2) return pad(month, length);
  return monthName(month, length === 3 ? 'short' : length === 5 ? 'narrow' : 'long', language);
}

function dayPart({ day, weekday }: Moment, length: number, language: FormatLanguage): string {
  if (length <= 2) return pad(day, length);
  return dayName(weekday, length === 3 ? 'short' : 'long', language);
}

const noonPart = (code: string, hours: number): string => {
  const name = hours < 12 ? 'AM' : 'PM';
  return code.length > 3 ? name : name.slice(0, 1);
};

const UNITS: Readonly<Record<string, number>> = { h: 24, m: 1_440, s: 86_400 };

function elapsed(code: string, serial: number): string {
  // A whole number of seconds is seldom a whole one in binary.
  const seconds = Math.round(serial * 86_400);
  return pad(Math.floor(seconds / (86_400 / (UNITS[code.charAt(0)] ?? 1))), code.length);
}

const pad = (number: number, length: number): string => String(number).padStart(length, '0');
