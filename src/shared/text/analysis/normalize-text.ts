const ASCII = /^[\0-\x7f]*$/u;
/** Normalising is quadratic in runs of combining marks, so these are cut where UAX #15 cuts them (stream-safe text). */
const MARK_RUNS = /(\p{M}{30})\p{M}+/gu;

/**
 * Normalises the forms that texts write in several ways: invisible characters are left out, raised numbers are set apart
 * from the text before them, and the rest is normalised (NFKC). Words are found in such a text.
 */
export function normalizeText(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .replace(SET_APART, prepare)
    .replace(MARK_RUNS, '$1')
    .normalize('NFKC')
    .replace(RING_BEFORE_TONE, '$1\u0e4d')
    .replace(BETWEEN_LETTERS, joinLetters);
}

/** Thai: the ring of `ำ` and a tone are typed in either order, and look the same. */
const RING_BEFORE_TONE = /\u0e4d([\u0e48-\u0e4b])/gu;

/** Characters that Unicode gives no look of their own, that colour an emoji or frame a sign, or that NFKC must not join. */
const SET_APART =
  /[\p{Default_Ignorable_Code_Point}\u{1f3fb}-\u{1f3ff}\u20dd-\u20e4]|[¹²³⁰⁴-⁹]+|[\p{No}™℠´\u00a0\u2009\u202f]/gu;
const RAISED = /^[¹²³⁰⁴-⁹]/u;
const LOWERED = /[₀-₉]/u;
const NUMBER = /\p{No}/u;
const NON_JOINER = '\u200c';
const ARABIC = /\p{sc=Arabic}/u;
/** A unit of length, whose power is also written as a plain digit (`m2`). */
const UNIT = /(?<![\p{L}\p{M}\p{N}])\p{L}{1,2}$/u;
const THREE_DIGITS = /^\d{3}(?!\d)/u;

function prepare(found: string, at: number, text: string): string {
  const end = at + found.length;
  if (RAISED.test(found)) {
    const unit = found.length === 1 ? UNIT.exec(text.slice(Math.max(0, at - 4), at)) : null;
    return unit ? ` ${found} ${unit[0]}${found} ` : ` ${found} `;
  }
  if (LOWERED.test(found)) return found;
  if (NUMBER.test(found) || found === '™' || found === '℠')
    return ` ${found === '™' || found === '℠' ? '' : found} `;
  if (found === '´') return "'";
  if (found === '\u00a0' || found === '\u2009' || found === '\u202f')
    return isDigit(text.charCodeAt(at - 1)) && THREE_DIGITS.test(text.slice(end, end + 4)) ? ',' : ' ';
  const isArabic = found === NON_JOINER && ARABIC.test(text.charAt(at - 1)) && ARABIC.test(text.charAt(end));
  return isArabic ? NON_JOINER : '';
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/** Apostrophes of all kinds, and the other signs that stand within words of some languages. */
const BETWEEN_LETTERS = /['’ʼʻ‘`′"״׳·]/gu;
const LETTER = /\p{L}/u;
/** In these, such a sign is no border: `м'ята`, `צה"ל`. */
const UNDIVIDED = /[\p{sc=Cyrillic}\p{sc=Hebrew}]/u;

function joinLetters(sign: string, at: number, text: string): string {
  const [before, after] = [text.charAt(at - 1), text.charAt(at + 1)];
  if (!LETTER.test(after)) return sign;
  if (sign === '·') return /l/iu.test(before) && /l/iu.test(after) ? '' : sign;
  if (UNDIVIDED.test(before) && UNDIVIDED.test(after)) return '';
  return sign === '"' || sign === '״' || !LETTER.test(before) ? sign : "'";
}
