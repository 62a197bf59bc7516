/** Tells whether a value is an object in the sense of JSON. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a text in JSON; null for a text that is none. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Tells whether a string consists of whole characters. JSON escapes can write halves of surrogate pairs, which are not
 * characters: UTF-8 cannot express them, different halves become the same, and the JSON reader in Redis stops at them.
 */
export const isWellFormed = (text: string): boolean => text.isWellFormed();

/**
 * Puts the replacement character in place of halves of characters, as encoding to UTF-8 does. No pattern is used, since
 * replacing eight million halves with one would take seconds.
 */
export const toWellFormed = (text: string): string => text.toWellFormed();

/*
 * Numbers of clients are held as doubles. One that a double would change is refused where it would be stored or compared,
 * and nothing is changed silently.
 */

/** Written in JSON in place of a number that is refused: it is parsed to Infinity, which stands for it from then on. */
export const NOT_EXACT_JSON = '1e999';

/** The error of such a number, in the vocabulary of validation errors. */
export const NOT_EXACT = {
  msg: 'a double cannot hold this number exactly; send it as a string',
  type: 'value_error.number.not_exact',
} as const;

/** A decimal number of at most this many characters without an exponent comes back from a double as it was. */
const SURE_LENGTH = 15;

/**
 * Tells whether a number, as JSON or Python writes it, comes back from a double with the same value. A fraction or a number
 * with an exponent may also be a double written with 17 digits, as `printf("%.17g")` does: then the double was meant.
 */
export function isExact(literal: string): boolean {
  const isPlain = /^[+-]?\d+$/.test(literal);
  if (literal.length <= SURE_LENGTH && !/[eE]/.test(literal)) return true;
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  const written = String(value);
  // Most programs write numbers so, and lists of them are long.
  if (written === literal) return true;
  const decimal = decimalOf(literal);
  return decimal === decimalOf(written) || (!isPlain && decimal === decimalOf(value.toPrecision(17)));
}

/** Returns the double that a number denotes; Infinity for a number that a double does not hold exactly. */
export const exactNumber = (literal: string): number => (isExact(literal) ? Number(literal) : Infinity);

/** Writes the value of a decimal number in the one form that is the same for all ways of writing it. */
function decimalOf(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${literal.startsWith('-') ? '-' : ''}${significant}e${String(power)}`;
}

/** A loop, because a pattern for zeros at the end would try each of a million zeros as a beginning. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
