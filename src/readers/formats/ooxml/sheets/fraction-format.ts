import type { FormatToken } from './format-code.js';

/** Most digits of a denominator. */
const MAX_DIGITS = 7;
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
export function formatFraction(value: number, tokens: readonly FormatToken[]): string | undefined {
  const layout = layoutOf(tokens);
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

interface Parts {
  readonly units: number;
  readonly rest: Fraction;
  readonly whole: FractionLayout['whole'];
}

/** A whole number stands without a fraction, and a fraction without a zero unless the format asks for one. */
function shownFraction({ units, rest, whole }: Parts): string {
  const fraction = `${String(rest.numerator)}/${String(rest.denominator)}`;
  if (!whole) return fraction;
  if (rest.numerator === 0) return String(units);
  const hasZero = whole.some(
    ({ type, ...token }) => type === 'digit' && 'text' in token && token.text === '0',
  );
  return units === 0 && !hasZero ? fraction : `${String(units)} ${fraction}`;
}

function layoutOf(tokens: readonly FormatToken[]): FractionLayout | undefined {
  const slash = tokens.findIndex(({ type }) => type === 'fraction');
  const isPlace = (token: FormatToken | undefined): boolean => token?.type === 'digit';
  const isDigit = (token: FormatToken | undefined): boolean =>
    isPlace(token) || (token?.type === 'literal' && /^\d$/.test(token.text));
  let start = slash;
  while (isPlace(tokens[start - 1])) start -= 1;
  let end = slash + 1;
  while (isDigit(tokens[end])) end += 1;
  const written = tokens.slice(slash + 1, end).map((token) => ('text' in token ? token.text : ''));
  if (start === slash || written.length === 0 || written.length > MAX_DIGITS) return undefined;
  const before = tokens.slice(0, start);
  const first = before.findIndex(isPlace);
  const fixed = Number(written.join('').replace(/[?#]/g, '0'));
  return {
    prefix: literals(first === -1 ? before : before.slice(0, first)),
    suffix: literals(tokens.slice(end)),
    whole: first === -1 ? undefined : before.slice(first),
    denominator: fixed > 0 ? { fixed } : { most: 10 ** written.length - 1 },
  };
}

const literals = (tokens: readonly FormatToken[]): string =>
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
