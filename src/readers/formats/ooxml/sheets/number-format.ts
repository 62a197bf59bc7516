import type { Color } from '../../visibility/colors.js';
import { formatDate, type DateSystem } from './date-format.js';
import { fulfils, parseFormatCode, type FormatSection, type FormatToken } from './format-code.js';

/** Digits after the point that are shown at most. */
const MAX_DECIMALS = 30;

/** Writes numbers and texts as cells show them. */
export interface NumberFormat {
  number(value: number): string;
  text(value: string): string;
  /** The colour that it gives to a number; undefined for none. */
  colorOf(value: number): Color | undefined;
}

/**
 * Makes a format of its code (ECMA-376 part 1, 18.8.31), with English names. Values that it cannot show are shown in the
 * general format.
 */
export function createNumberFormat(code: string, system: DateSystem): NumberFormat {
  const sections = parseFormatCode(code);
  return {
    number(value) {
      const { section, isSigned } = selectSection(sections, value);
      if (!section || isBare(section, sections.length)) return generalNumber(value);
      return (
        formatSection(section.tokens, isSigned ? value : Math.abs(value), system) ?? generalNumber(value)
      );
    },
    text(value) {
      const section =
        sections[3] ?? sections.findLast(({ tokens }) => tokens.some(({ type }) => type === 'text'));
      if (!section) return value;
      return section.tokens
        .map((token) => (isValue(token) ? value : token.type === 'literal' ? token.text : ''))
        .join('');
    },
    colorOf: (value) => selectSection(sections, value).section?.color,
  };
}

/** A number as it is shown without a format: whole numbers exactly, others with up to 15 digits. */
export function generalNumber(value: number): string {
  return String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(15))).toUpperCase();
}

/** A code of nothing, which some programs write for all cells, or of a colour alone, hides no number; an empty section among others does. */
const isBare = ({ tokens, color }: FormatSection, sections: number): boolean =>
  tokens.length === 0 && (sections === 1 || color !== undefined);

/** The section for negative numbers writes the sign itself. */
function selectSection(sections: readonly FormatSection[], value: number) {
  const conditional = sections.find(({ condition }) => condition && fulfils(value, condition));
  if (conditional) return { section: conditional, isSigned: true };
  const [positive, negative, zero] = sections.filter(({ condition }) => !condition);
  if (sections.some(({ condition }) => condition)) return { section: positive, isSigned: true };
  if (value < 0 && negative) return { section: negative, isSigned: false };
  return { section: value === 0 && zero ? zero : positive, isSigned: true };
}

function formatSection(
  tokens: readonly FormatToken[],
  value: number,
  system: DateSystem,
): string | undefined {
  const types = new Set(tokens.map(({ type }) => type));
  if (types.has('date') || types.has('elapsed')) return formatDate(value, tokens, system);
  if (types.has('fraction')) return types.has('percent') ? undefined : formatFraction(value, tokens);
  if (types.has('general') || types.has('text'))
    return tokens
      .map((token) => (token.type === 'literal' ? token.text : isValue(token) ? generalNumber(value) : ''))
      .join('')
      .trim();
  return types.has('digit') ? formatDigits(tokens, value) : literals(tokens, value);
}

const isValue = ({ type }: FormatToken): boolean => type === 'general' || type === 'text';

/** A section without places for digits shows its text alone; an empty one hides the number. */
function literals(tokens: readonly FormatToken[], value: number): string {
  const text = tokens
    .map((token) => (token.type === 'literal' ? token.text : (SIGNS[token.type] ?? '')))
    .join('');
  return (value < 0 && text !== '' ? `-${text}` : text).trim();
}

const SIGNS: Readonly<Partial<Record<FormatToken['type'], string>>> = {
  point: '.',
  comma: ',',
  percent: '%',
};

function formatDigits(tokens: readonly FormatToken[], value: number): string | undefined {
  const layout = layoutOf(tokens);
  const scaled = (Math.abs(value) * 100 ** layout.percents) / 1000 ** layout.thousands;
  const exact = Number(scaled.toPrecision(15));
  if (layout.exponent !== -1) return inExponents(tokens, layout, value);
  if (exact >= 1e21) return undefined;
  const [whole = '0', decimals = ''] = rounded(exact, layout.decimals.length).split('.');
  const digits = whole === '0' ? '' : whole;
  const isZero = digits === '' && !/[1-9]/.test(decimals);
  const text =
    wholePart(tokens.slice(0, layout.point), digits, layout.isGrouped) +
    decimalPart(tokens.slice(layout.point), decimals);
  return `${value < 0 && !isZero ? '-' : ''}${text.trim()}`;
}

function layoutOf(tokens: readonly FormatToken[]) {
  const found = tokens.findIndex(({ type }) => type === 'point');
  const point = found === -1 ? tokens.length : found;
  const exponent = tokens.findIndex(({ type }) => type === 'exponent');
  const lastDigit = tokens.findLastIndex(({ type }) => type === 'digit');
  const isComma = ({ type }: FormatToken): boolean => type === 'comma';
  const firstDigit = tokens.findIndex(({ type }) => type === 'digit');
  const end = exponent === -1 ? tokens.length : exponent;
  return {
    point,
    exponent,
    decimals: tokens
      .slice(point, end)
      .filter(({ type }) => type === 'digit')
      .slice(0, MAX_DECIMALS),
    percents: tokens.filter(({ type }) => type === 'percent').length,
    // Commas behind the last digit divide by a thousand each, commas between digits group them.
    thousands: tokens.slice(lastDigit + 1).filter(isComma).length,
    isGrouped: tokens.slice(firstDigit, Math.min(point, lastDigit)).some(isComma),
  };
}

/** Rounds half away from zero by the decimal digits, as people do, not by the binary ones. */
function rounded(value: number, decimals: number): string {
  const shifted = Number(`${String(value)}e${String(decimals)}`);
  if (!Number.isFinite(shifted) || shifted > Number.MAX_SAFE_INTEGER) return value.toFixed(decimals);
  return Number(`${String(Math.round(shifted))}e-${String(decimals)}`).toFixed(decimals);
}

/** Puts digits into their places from the right. Those that are too many stand before the first place. */
function wholePart(tokens: readonly FormatToken[], digits: string, isGrouped: boolean): string {
  const places = tokens.filter(({ type }) => type === 'digit').length;
  let left = places;
  let used = 0;
  const parts: string[] = [];
  const take = (digit: string): void => {
    if (isGrouped && used > 0 && used % 3 === 0) parts.push(',');
    parts.push(digit);
    used += 1;
  };
  for (const token of tokens.toReversed()) {
    if (token.type === 'literal') parts.push(token.text);
    else if (token.type === 'percent') parts.push('%');
    else if (token.type === 'digit') {
      left -= 1;
      const digit = digits.at(-1 - used);
      if (digit !== undefined) take(digit);
      else if (token.text === '0') take('0');
      if (left === 0) while (used < digits.length) take(digits.charAt(digits.length - 1 - used));
    }
  }
  if (places === 0) while (used < digits.length) take(digits.charAt(digits.length - 1 - used));
  return parts.toReversed().join('');
}

function decimalPart(tokens: readonly FormatToken[], decimals: string): string {
  const lastShown = decimals.split('').findLastIndex((digit) => digit !== '0') + 1;
  let used = 0;
  let text = '';
  for (const token of tokens) {
    if (token.type === 'literal') text += token.text;
    else if (token.type === 'percent') text += '%';
    else if (token.type === 'digit') {
      const isShown = token.text === '0' || used < lastShown;
      if (isShown) text += `${used === 0 ? '.' : ''}${decimals.charAt(used)}`;
      used += 1;
    }
  }
  return text;
}

function inExponents(
  tokens: readonly FormatToken[],
  { exponent, decimals }: { exponent: number; decimals: readonly FormatToken[] },
  value: number,
): string {
  const [mantissa = '', power = '0'] = value.toExponential(decimals.length).split('e');
  const places = tokens.slice(exponent).filter(({ type }) => type === 'digit').length;
  const sign = power.startsWith('-') ? '-' : '+';
  return `${mantissa}E${sign}${power.replace(/^[+-]/, '').padStart(places, '0')}`;
}

/** Most digits of a denominator. */
const MAX_DENOMINATOR_DIGITS = 7;
/** A rest that is smaller is an error of rounding. */
const MIN_REST = 1e-9;

interface Fraction {
  readonly numerator: number;
  readonly denominator: number;
}

interface FractionLayout {
  readonly prefix: string;
  readonly suffix: string;
  /** Places of the whole number; undefined where all is in the fraction. */
  readonly whole: readonly FormatToken[] | undefined;
  readonly denominator: { readonly fixed: number } | { readonly most: number };
}

/** Formats a number as a fraction, such as `1 3/4` by `# ?/?`, or of a fixed denominator; undefined for other formats. */
function formatFraction(value: number, tokens: readonly FormatToken[]): string | undefined {
  const layout = fractionLayoutOf(tokens);
  const size = Number(Math.abs(value).toPrecision(15));
  if (!layout || size > Number.MAX_SAFE_INTEGER) return undefined;
  const { whole, denominator, prefix, suffix } = layout;
  const units = whole ? Math.floor(size) : 0;
  const rest = size - units;
  const found =
    'fixed' in denominator
      ? { numerator: Math.round(rest * denominator.fixed), denominator: denominator.fixed }
      : closestFraction(rest, denominator.most);
  const isWhole = whole !== undefined && found.numerator === found.denominator;
  const shown = shownFraction({
    units: isWhole ? units + 1 : units,
    rest: isWhole ? { ...found, numerator: 0 } : found,
    whole,
  });
  const isZero = units === 0 && found.numerator === 0;
  return `${value < 0 && !isZero ? '-' : ''}${prefix}${shown}${suffix}`.trim();
}

interface FractionParts {
  readonly units: number;
  readonly rest: Fraction;
  readonly whole: FractionLayout['whole'];
}

/** A whole number stands without a fraction, and a fraction without a zero unless the format asks for one. */
function shownFraction({ units, rest, whole }: FractionParts): string {
  const fraction = `${String(rest.numerator)}/${String(rest.denominator)}`;
  if (!whole) return fraction;
  if (rest.numerator === 0) return String(units);
  const hasZero = whole.some(
    ({ type, ...token }) => type === 'digit' && 'text' in token && token.text === '0',
  );
  return units === 0 && !hasZero ? fraction : `${String(units)} ${fraction}`;
}

function fractionLayoutOf(tokens: readonly FormatToken[]): FractionLayout | undefined {
  const slash = tokens.findIndex(({ type }) => type === 'fraction');
  const isPlace = (token: FormatToken | undefined): boolean => token?.type === 'digit';
  const isDigit = (token: FormatToken | undefined): boolean =>
    isPlace(token) || (token?.type === 'literal' && /^\d$/.test(token.text));
  let start = slash;
  while (isPlace(tokens[start - 1])) start -= 1;
  let end = slash + 1;
  while (isDigit(tokens[end])) end += 1;
  const written = tokens.slice(slash + 1, end).map((token) => ('text' in token ? token.text : ''));
  if (start === slash || written.length === 0 || written.length > MAX_DENOMINATOR_DIGITS) return undefined;
  const before = tokens.slice(0, start);
  const first = before.findIndex(isPlace);
  const fixed = Number(written.join('').replace(/[?#]/g, '0'));
  return {
    prefix: literalText(first === -1 ? before : before.slice(0, first)),
    suffix: literalText(tokens.slice(end)),
    whole: first === -1 ? undefined : before.slice(first),
    denominator: fixed > 0 ? { fixed } : { most: 10 ** written.length - 1 },
  };
}

const literalText = (tokens: readonly FormatToken[]): string =>
  tokens.map((token) => (token.type === 'literal' ? token.text : '')).join('');

/** The closest fraction with a bounded denominator, by continued fractions and the last step between two of them. */
function closestFraction(value: number, most: number): Fraction {
  let before: Fraction = { numerator: 0, denominator: 1 };
  let last: Fraction = { numerator: 1, denominator: 0 };
  let rest = value;
  for (;;) {
    const times = Math.floor(rest);
    const next = added(before, last, times);
    if (next.denominator > most) break;
    before = last;
    last = next;
    if (rest - times < MIN_REST) return last;
    rest = 1 / (rest - times);
  }
  const between = added(before, last, Math.floor((most - before.denominator) / last.denominator));
  const distance = ({ numerator, denominator }: Fraction): number =>
    Math.abs(numerator / denominator - value);
  return distance(last) <= distance(between) ? last : between;
}

const added = (one: Fraction, other: Fraction, times: number): Fraction => ({
  numerator: one.numerator + times * other.numerator,
  denominator: one.denominator + times * other.denominator,
});
