import { at } from '../../../shared/at.js';
import { shiftInFormula } from '../baseline/shift-text.js';
import { oneLine } from '../../blocks/one-line.js';

/** A part of a formula, as XML has it. */
export interface FormulaElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (FormulaElement | string)[];
}

/** Formulas within formulas deeper than this are written as the text that they hold. */
export const MAX_NESTED = 60;

/** Letters with a style of their own, such as 𝑥, as the letters that they are. */
export const plainLetters = (text: string): string =>
  text.replace(/[\u{1d400}-\u{1d7ff}ℎ]/gu, (letter) => letter.normalize('NFKC'));

const BRACKETED = /\((?:[^()]|\([^()]*\))*\)|\[[^[\]]*\]|\{[^{}]*\}/g;
const OPERAND = /^[\p{L}\p{M}\p{N}.^_√∛∜′″‴'!∞°%∂∇…⁺⁻⁼⁽⁾₊₋₌₍₎¯▁⏞⏟#]*$/u;
const FACTORS = /\p{Nd}\p{L}|[\p{L}\p{N}]\(|\)[\p{L}\p{N}(]/u;
const BARS = /^([|‖])[^|‖]*\1$/u;

/** A longer text is never taken for one operand, so that a formula is read in a time that grows with its length. */
const MAX_OPERAND_LENGTH = 500;

/** Puts brackets around a text that is more than one operand. A text in brackets already counts as one. */
export function grouped(text: string): string {
  const whole = text.trim();
  if (whole.length <= 1 || (whole.length <= MAX_OPERAND_LENGTH && isOperand(whole))) return whole;
  return `(${whole})`;
}

function isOperand(text: string): boolean {
  if (isEnclosed(text) || BARS.test(text)) return true;
  return OPERAND.test(text.replace(BRACKETED, '#'));
}

/** Tells whether the last character of a text closes the bracket that it begins with. */
function isEnclosed(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ('([{⌊⌈⟨'.includes(text.charAt(index))) depth += 1;
    else if (')]}⌋⌉⟩'.includes(text.charAt(index))) depth -= 1;
    if (depth <= 0) return depth === 0 && index > 0 && index === text.length - 1;
  }
  return false;
}

/** `(a+b)/c`. Several factors below the line have brackets, so that nobody reads them beside it. */
export function fraction(above: string, below: string): string {
  const divisor = grouped(below);
  const isPlain = isEnclosed(divisor) || !FACTORS.test(divisor);
  return `${grouped(above)}/${isPlain ? divisor : `(${divisor})`}`;
}

/** Writes one expression above another without a line, as in binomials: `n¦k`. */
export const stacked = (above: string, below: string): string => `${grouped(above)}¦${grouped(below)}`;

const ROOTS: ReadonlyMap<string, string> = new Map([
  ['', '√'],
  ['2', '√'],
  ['3', '∛'],
  ['4', '∜'],
]);

export function root(radicand: string, degree = ''): string {
  const sign = ROOTS.get(degree.trim());
  if (sign === undefined) return `√(${degree.trim()}&${radicand.trim()})`;
  const under = grouped(radicand);
  return FACTORS.test(under) && !isEnclosed(under) ? `${sign}(${under})` : sign + under;
}

const PRIMES = /^[′″‴⁗'’]+$/u;
const DEGREES = /^[°∘]$/u;

interface Scripts {
  readonly below?: string;
  readonly above?: string;
}

/** Writes an operand with scripts low and high behind it: `x_i²`. */
export const withScripts = (base: string, scripts: Scripts): string => grouped(base) + scriptsOf(scripts);

/** Writes an operand with scripts low and high in front of it: `₆¹⁴C`. */
export const withPrescripts = (base: string, scripts: Scripts): string => {
  const before = scriptsOf(scripts);
  return joined(before, grouped(base));
};

function scriptsOf({ below = '', above = '' }: Scripts): string {
  const [low, high] = [below.trim(), above.trim()];
  const written = low === '' ? '' : shiftInFormula(low, 'lowered');
  if (high === '') return written;
  if (PRIMES.test(high)) return written + high;
  return written + (DEGREES.test(high) ? '°' : shiftInFormula(high, 'raised'));
}

/** Writes a large operator, or a limit, before its operand: `∑_(i=1)^n x_i`. */
export function withLimits(operator: string, limits: Scripts, operand = ''): string {
  const scripts = scriptsOf(limits);
  return `${operator.trim()}${scripts}${scripts === '' ? '' : ' '}${operand.trim()}`;
}

/** `sin x`, `f(x)`. */
export function applied(name: string, argument: string): string {
  const [of, to] = [name.trim(), argument.trim()];
  return to === '' || isEnclosed(to) ? of + to : `${of} ${to}`;
}

/** Rows of cells, as a matrix (`■`) or as equations below each other (`█`). */
export const arranged = (rows: readonly (readonly string[])[], sign: '■' | '█' = '■'): string =>
  `${sign}(${rows.map((row) => row.map((cell) => cell.trim()).join('&')).join('@')})`;

const ACCENTS: ReadonlyMap<string, string> = new Map([
  ...Array.from('^ˆ', (sign) => [sign, '\u0302'] as const),
  ...Array.from('~˜∼', (sign) => [sign, '\u0303'] as const),
  ...Array.from('¯‾_―─ˉ', (sign) => [sign, '\u0305'] as const),
  ...Array.from('→⟶', (sign) => [sign, '\u20d7'] as const),
  ...Array.from('˙.', (sign) => [sign, '\u0307'] as const),
  ['¨', '\u0308'],
  ['ˇ', '\u030c'],
  ['˘', '\u0306'],
  ['`', '\u0300'],
  ['´', '\u0301'],
]);
const COMBINING = /^\p{M}$/u;
const LETTER = /^\p{L}\p{M}*$/u;

/** Returns the sign that makes an accent of the sign above a letter; undefined where that is none. */
export const accentOf = (above: string): string | undefined =>
  COMBINING.test(above) ? above : ACCENTS.get(above);

/** A letter with its accent, or `(AB)` with one. */
export function accented(base: string, accent: string): string {
  const under = base.trim();
  if (accent === '\u0305' || accent === '\u0304') return overlined(under);
  return (LETTER.test(under) || isEnclosed(under) ? under : `(${under})`) + accent;
}

export const overlined = (base: string): string => marked(base, '\u0305', '¯');
export const underlined = (base: string): string => marked(base, '\u0332', '▁');

/** A line over or under a letter is a sign behind it, one over more a sign before brackets. */
function marked(base: string, combining: string, sign: string): string {
  const text = base.trim();
  if (LETTER.test(text)) return text + combining;
  return sign + (isEnclosed(text) ? text : `(${text})`);
}

/** A brace, or another sign, over or under several things. */
export const underSign = (sign: string, base: string): string =>
  isEnclosed(base.trim()) ? sign + base.trim() : `${sign}(${base.trim()})`;

const BARE_SCRIPT = /[\^_][\p{L}\p{M}\p{Nd}]+$/u;
const GOES_ON = /^[\p{L}\p{Nd}]/u;
/** The length of the text before that is looked at. */
const NEAR = 40;

/** Puts a blank between two parts where they would be read as one. */
const joined = (left: string, right: string): string => left + gapBetween(left, right) + right;

/** Returns the gap that keeps two parts apart; empty where nothing would join them. */
export const gapBetween = (left: string, right: string): '' | ' ' =>
  GOES_ON.test(right) && BARE_SCRIPT.test(left.slice(-NEAR)) ? ' ' : '';

/** All text that an element holds. */
export function plainText(element: FormulaElement): string {
  // The tree may be deeper than calls can be.
  const parts: string[] = [];
  const open: (FormulaElement | string)[] = [element];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(next);
    else
      for (let index = next.children.length - 1; index >= 0; index -= 1) open.push(at(next.children, index));
  }
  return oneLine(plainLetters(parts.join('')));
}
