import { firstGroup } from '../../blocks/matches.js';
import type { Around, Shift } from './shift.js';

interface Script {
  /** The raised or lowered form of each sign, in Unicode's block of superscripts and subscripts. */
  readonly signs: ReadonlyMap<string, string>;
  /** The mark before a text for which Unicode has no sign, as in UnicodeMath (Unicode Technical Note 28). */
  readonly mark: string;
}

const PLAIN = '0123456789+−=()';
const SCRIPTS: Readonly<Record<Shift, Script>> = {
  raised: { signs: signsOf('⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾'), mark: '^' },
  lowered: { signs: signsOf('₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'), mark: '_' },
};

function signsOf(shifted: string): ReadonlyMap<string, string> {
  const signs = Array.from(shifted);
  return new Map([
    ...Array.from(PLAIN, (plain, index) => [plain, signs[index] ?? plain] as const),
    ['-', shifted.charAt(PLAIN.indexOf('−'))],
    ['‐', shifted.charAt(PLAIN.indexOf('−'))],
    // A sign that is already of its kind stays one.
    ...signs.map((sign) => [sign, sign] as const),
  ]);
}

/**
 * Writes raised or lowered text in the one way of all formats: `10⁶`, `treaty¹`, `5th`, `x^n`, `e^(a+b)`, `H₂O`, `x_i`,
 * `a_(n+1)`. Blanks at both ends, and ends of lines, stay outside of the mark.
 */
export function shiftText(text: string, shift: Shift, around: Around): string {
  if (text.includes('\n')) {
    const lines = text.split('\n');
    return lines
      .map((line, index) => shiftText(line, shift, aroundLine(index, lines.length, around)))
      .join('\n');
  }
  const core = text.trim();
  if (core === '') return text;
  const start = text.indexOf(core);
  const [lead, tail] = [text.slice(0, start), text.slice(start + core.length)];
  const near = {
    before: lead === '' ? around.before : ' ',
    after: tail === '' ? around.after : ' ',
  };
  return lead + shiftCore(core, shift, near) + tail;
}

const aroundLine = (index: number, count: number, { before, after }: Around): Around => ({
  before: index === 0 ? before : '',
  after: index === count - 1 ? after : '',
});

function shiftCore(core: string, shift: Shift, around: Around): string {
  return inSigns(core, shift) ?? staysPlain(core, shift, around) ?? markShifted(core, shift, around.after);
}

/**
 * Writes the raised or lowered text of a formula, in which no letters are ordinals or abbreviations.
 * @param after the text that follows it
 */
export const shiftInFormula = (text: string, shift: Shift, after = ''): string =>
  inSigns(text, shift) ?? markShifted(text, shift, after);

/** Characters that may stand between raised numbers, and the signs of notes beside them. */
const BETWEEN = /^[\s,;*∗†‡§¶‖#]$/u;
const DASH = '–';
const DIGIT = /\p{N}/u;

/** The text in Unicode's raised or lowered signs; undefined where it holds anything else. */
function inSigns(core: string, shift: Shift): string | undefined {
  const { signs } = SCRIPTS[shift];
  let written = '';
  let shifted = 0;
  let already = 0;
  let digits = 0;
  const characters = Array.from(core);
  for (const [index, character] of characters.entries()) {
    const plain = narrow(character);
    const sign = plain === DASH && index === 0 ? signs.get('-') : signs.get(plain);
    const isAtEnd = index === characters.length - 1 && index > 0;
    if (sign !== undefined) {
      shifted += 1;
      if (sign === plain && DIGIT.test(plain)) already += 1;
      else if (DIGIT.test(plain)) digits += 1;
    } else if (plain !== DASH && !BETWEEN.test(plain) && !(isAtEnd && '.:'.includes(plain))) return undefined;
    written += sign ?? plain;
  }
  // A power within a power: both would be the same signs.
  if (already > 0 && digits > 0) return undefined;
  return shifted > 0 ? written : undefined;
}

/** Digits and signs of full width count as the ordinary ones: encodings of Chinese, Japanese and Korean have no other minus. */
function narrow(character: string): string {
  const ascii = String.fromCharCode(character.charCodeAt(0) - 0xfee0);
  return /^[\d+\-=()]$/.test(ascii) ? ascii : character;
}

const WORD = /^\p{L}[\p{L}\p{M}]*$/u;
/** One sign of mathematics, or digits that Unicode has no raised or lowered signs for. */
const SIGN = /^(?:[\p{S}*†‡]|\p{Nd}+)$/u;
const GOES_ON = /^[\p{L}\p{M}\p{Nd}]/u;

/** @param after the text that follows, from which a word has to be told apart */
function markShifted(core: string, shift: Shift, after: string): string {
  const { mark } = SCRIPTS[shift];
  const isBare = SIGN.test(core) || WORD.test(core);
  if (isBare && !GOES_ON.test(after)) return mark + core;
  return mark + (isBracketed(core) ? core : `(${core})`);
}

/** Tells whether the last character of a text closes its first bracket. */
function isBracketed(text: string): boolean {
  if (!text.startsWith('(') || !text.endsWith(')')) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '(') depth += 1;
    else if (text[index] === ')') depth -= 1;
    if (depth === 0) return index === text.length - 1;
  }
  return false;
}

/** Notes that say by their brackets that they are none of the text: `[2]`, `[a], [b]`. */
const IN_BRACKETS = /^(?:\[[^[\]]{1,60}\][\s,;]{0,3})+$/;
/** Marks of notes and other signs that mean the same on the line, such as `*`, `†`, `®` and `°`. */
const SIGNS = /^[\p{P}\p{So}\p{Sk}\p{Lm}∗⋆ªº\s]+$/u;
const LOWERED_SIGNS = /^(?![*†‡])[\p{P}\p{Sk}\s]+$/u;

const AFTER_NUMBER = new Set(
  (
    'st nd rd th e es er ers re res ier iers ère ères ière ème èmes eme emes ième ieme nde nds ndes ' +
    'ste de te os as ro ra do da to ta mo ma vo va no na ter bis'
  ).split(' '),
);
const AFTER_ROMAN = new Set('e es er re ère ème eme ième th st nd rd'.split(' '));
const AFTER_LETTER = new Set('th st nd rd ième ieme'.split(' '));

const NUMBER = /\p{Nd}\.?$/u;
/** A letter that stands for the sign of degrees: `20 °C`. */
const DEGREES = { before: /\p{Nd}\s?$/u, after: /^\s?[CF](?![\p{L}\p{N}])/u } as const;
const ITEM_NUMBER = /(?:^|[^\p{Nd}.,])\p{Nd}{1,2}\.$/u;
const ROMAN = /(?:^|[^\p{L}\p{N}])(?:[IVX][IVXLC]{0,10}|[ivx][ivxlc]{1,10})$/u;
const SINGLE_LETTER = /(?:(?:^|[^\p{L}\p{N}])\p{L}-?|\))$/u;
const LAST_WORD = /(?:^|[^\p{L}\p{N}])(\p{L}{1,4})\.?$/u;

/** Abbreviations with only their first letters on the line. */
const ABBREVIATIONS = new Set(
  (
    'Mme Mmes Mlle Mlles Mr Mrs Ms Mgr Mgrs MM Messrs Me Mes Mc Mac Dr Drs Dre Dra Pr Prs Pre Prof Ste Stes St Sts ' +
    'Sta Sto Sr Sra Srta Sres Jr Cie Cies Vve Bd Bld Blvd Fg No Nos Nr Nrs no nos nr nrs Wm Chas Geo Jas Thos Jno ' +
    'Esq Lt Capt Col Gen Hon Revd Ltd'
  ).split(' '),
);

const TRADE_MARKS: ReadonlyMap<string, string> = new Map([
  ['TM', '™'],
  ['SM', '℠'],
]);

const STANDS_ALONE = { before: /(?:^|[\s\p{Ps}\p{Pi}])$/u, after: /^(?:$|[\s\p{Pe}\p{Pf}\p{Po}])/u } as const;
const HAS_WORD = /\p{L}{3}/u;
/** The length of the text before that is looked at. */
const NEAR = 24;

/** Returns the plain form of a raised or lowered text, without a mark; undefined where the text needs the mark. */
function staysPlain(core: string, shift: Shift, around: Around): string | undefined {
  if (IN_BRACKETS.test(core)) return core;
  if ((shift === 'raised' ? SIGNS : LOWERED_SIGNS).test(core)) return core;
  const before = around.before.slice(-NEAR);
  const isAlone = STANDS_ALONE.before.test(before) && STANDS_ALONE.after.test(around.after);
  // Words over or under nothing are small print.
  if (isAlone && HAS_WORD.test(core)) return core;
  if (shift !== 'raised') return undefined;
  const isDegree = /^[oO]$/.test(core) && DEGREES.before.test(before) && DEGREES.after.test(around.after);
  return isDegree ? '°' : joined(core, before);
}

/** Letters of ordinals and abbreviations, and trade marks. */
function joined(core: string, before: string): string | undefined {
  if (before !== '' && TRADE_MARKS.has(core)) return TRADE_MARKS.get(core);
  const letters = core.replace(/\.$/, '').toLowerCase();
  if (letters === 'o' && NUMBER.test(before)) return core.replace(/o/i, 'º');
  if (letters === 'a' && ITEM_NUMBER.test(before)) return core.replace(/a/i, 'ª');
  const isOrdinal =
    (AFTER_NUMBER.has(letters) && NUMBER.test(before)) ||
    (AFTER_ROMAN.has(letters) && ROMAN.test(before)) ||
    (AFTER_LETTER.has(letters) && SINGLE_LETTER.test(before));
  if (isOrdinal) return core;
  const word = firstGroup(LAST_WORD, before);
  return word !== '' && ABBREVIATIONS.has(word + core.replace(/\.$/, '')) ? core : undefined;
}
