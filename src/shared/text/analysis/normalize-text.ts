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

/** Sees each replacement in a text: the found characters, their place in it, and what is written for them, which it returns. */
export type See = (found: string, at: number, written: string) => string;

/** The replacements that `normalizeText` makes before and after NFKC, one by one, for who needs to know their places. */
export const REPLACEMENTS: Readonly<
  Record<'before' | 'after', readonly ((text: string, see: See) => string)[]>
> = {
  before: [
    (text, see) => text.replace(SET_APART, (found, at: number) => see(found, at, prepare(found, at, text))),
    (text, see) => text.replace(MARK_RUNS, (found, kept: string, at: number) => see(found, at, kept)),
  ],
  after: [
    (text, see) =>
      text.replace(RING_BEFORE_TONE, (found, tone: string, at: number) => see(found, at, `${tone}\u0e4d`)),
    (text, see) =>
      text.replace(BETWEEN_LETTERS, (found, at: number) => see(found, at, joinLetters(found, at, text))),
  ],
};

/**
 * Letters that have another spelling, by script. The sources are the normalizers that Lucene publishes for each language
 * (Arabic, Persian, Sorani, Greek, Russian, Ukrainian, Hindi), and ICU's folding of Latin letters.
 */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  [
    'ß=ss æ=ae œ=oe ø=o ł=l ð=d þ=th ħ=h ŧ=t ŋ=n ı=i',
    'ς=σ',
    'ё=е ґ=г ѣ=е ѳ=ф ѵ=и ѫ=у',
    'أ=ا إ=ا آ=ا ٱ=ا ؤ=و ئ=ي ى=ي ی=ي ے=ي ې=ي',
    'ة=ه ہ=ه ھ=ه ە=ه ۀ=ه ۂ=ه ۃ=ه ک=ك ڪ=ك',
    // Devanagari: the moon and dot is a dot, and the dot below is left out.
    '\u0901=\u0902 \u093c=',
  ].flatMap((letters) => letters.split(' ').map((pair): [string, string] => [pair.charAt(0), pair.slice(2)])),
);
const SPELLED = new RegExp(`[${[...SPELLINGS.keys()].join('')}]`, 'gu');

/** Devanagari: a nasal without a vowel before a consonant of its own class is also written as a dot: `हिन्दी`, `हिंदी`. */
const DEAD_NASAL =
  /\u0919\u094d(?=[\u0915-\u0918])|\u091e\u094d(?=[\u091a-\u091d])|\u0923\u094d(?=[\u091f-\u0922])|\u0928\u094d(?=[\u0924-\u0927])|\u092e\u094d(?=[\u092a-\u092d])/gu;
const LEADING_MARKS = /^\p{M}+/u;
const GREEK_LETTER = /(\p{sc=Greek})\p{M}+/gu;
/** Marks that readers do not need beside the accents of Greek: stress of Cyrillic, points of Hebrew and Arabic, Arabic's long line. */
const POINTS =
  /(?<=\p{sc=Cyrillic})[\u0300\u0301]+|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+|(?<=i)\u0307/gu;
const ARABIC_ARTICLE = /^(?:[وبكف]?ال|لل)(?=.{2})/u;
const DIGITS = /\p{Nd}/gu;
/** Russian before 1918: `исторія`, `вѣра`, `міръ`. Ukrainian keeps its own letter elsewhere. */
const OLD_WORD = /[ѣѳѵ]|[бвгджзклмнпрстфхцчшщ]ъ$/u;
const EVERY_I = /і/gu;
const OLD_I = /і(?=[аеиоуыэюяѣйё])/gu;
const OLD_END = /(?<=[бвгджзклмнпрстфхцчшщѳ])ъ$/u;

/**
 * Folds the spellings of a word in small letters that readers take for the same: ß and ss, letters and digits of Arabic and
 * Persian, Greek without accents, ё and е. Accents of Latin letters stay.
 */
export function foldLetters(lower: string): string {
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(LEADING_MARKS, '')
    .replace(GREEK_LETTER, '$1')
    .replace(POINTS, '')
    .normalize('NFC')
    .replace(DIGITS, digitOf)
    .replace(OLD_WORD.test(lower) ? EVERY_I : OLD_I, 'и')
    .replace(OLD_END, '')
    .replace(ARABIC_ARTICLE, '')
    .replace(SPELLED, (letter) => SPELLINGS.get(letter) ?? letter)
    .replace(DEAD_NASAL, '\u0902');
}

/** The digits of a script stand in a row of ten. */
function digitOf(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(point - value - 1))) value += 1;
  return String(value);
}

const LATIN_LETTER = /([a-z])\p{M}+/gu;

/** Leaves out the accents of Latin letters and the bar of đ, as people do who search. */
export function foldAccents(word: string): string {
  if (ASCII.test(word)) return word;
  return word.normalize('NFD').replace(LATIN_LETTER, '$1').normalize('NFC').replaceAll('đ', 'd');
}

/** The five marks of tones in Vietnamese, and the letters of the syllable behind them. */
const TONE = /([\u0300\u0301\u0303\u0309\u0323])(\p{L}+)$/u;

/** Sets the tone of a syllable of Vietnamese behind it, since there are two rules of where it stands: `hoà` and `hòa`. */
export function toneLast(syllable: string): string {
  return ASCII.test(syllable) ? syllable : syllable.normalize('NFD').replace(TONE, '$2$1').normalize('NFC');
}

/** Letters with the tones of Vietnamese, beside letters that other languages have, too. */
const TONES = /[\u1ea0-\u1ef9ơưƠƯ]/u;

/** Tells whether a text is of a language in which accents tell words apart, so that each accented word is one by itself. */
export function hasTones(text: string): boolean {
  return TONES.test(text);
}
