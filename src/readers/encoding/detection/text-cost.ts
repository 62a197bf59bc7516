import { FREQUENT_CHARACTERS, LETTER_PAIRS } from './language-tables.js';
import { addTo } from '../../../shared/at.js';

/** Signs that all kinds of texts have. */
const COMMON_SIGNS = new Set(
  '’“”„‘‚–—…«»‹›€§°©®™•·£½№¡¿ªº†‡‰´¼¾²³×\u00a0、。「」『』・，！？：；（）《》〈〉“”　～ー％＋－／＝｡､'.split(
    '',
  ),
);
const COMMON_SIGN_BITS = 7;
const RARE_SIGN_BITS = 13;
/**
 * Control characters, private characters, numbers without a character, lines and blocks of old screens, and a sign for any
 * currency.
 */
const NO_SIGN = /[\p{Cc}\p{Co}\p{Cn}\p{Cs}\ufffd\u2500-\u259f¤]/u;
const NO_SIGN_BITS = 22;
/** A sign that stands between two letters, where only apostrophes and the like do. */
const WITHIN_WORD_BITS = 7;
const WORD_SIGNS = /[’‘'·´–—\u00adー・]/;

/** Letters of any kind and foreign signs without a blank, or anything else of ASCII, between them. */
const STRETCH = /(?:[a-z]|[^\0-\x7f])+/giu;
const TOKEN = /(?:(?![ªº])[\p{L}\p{M}])+|[^\p{L}\p{M}]|[ªº]/gu;
const FOREIGN = /[^\0-\x7f]/;
const LETTER = /(?![ªº])[\p{L}\p{M}]/u;

/** The stretches of a text that are not the same in all encodings, in words and signs. */
export interface ForeignText {
  readonly words: ReadonlyMap<string, number>;
  /** The cost of the signs, in bits. */
  readonly signBits: number;
}

export function foreignText(text: string): ForeignText {
  const words = new Map<string, number>();
  let signBits = 0;
  for (const [stretch] of text.matchAll(STRETCH)) {
    if (!FOREIGN.test(stretch)) continue;
    const tokens = stretch.match(TOKEN) ?? [];
    for (const [index, token] of tokens.entries())
      if (LETTER.test(token)) addTo(words, token);
      else signBits += signCost(token, index > 0 && index < tokens.length - 1);
  }
  return { words, signBits };
}

const signCost = (sign: string, isWithinWord: boolean): number =>
  ownCost(sign) + (isWithinWord && !WORD_SIGNS.test(sign) ? WITHIN_WORD_BITS : 0);

function ownCost(sign: string): number {
  if (COMMON_SIGNS.has(sign)) return COMMON_SIGN_BITS;
  return NO_SIGN.test(sign) ? NO_SIGN_BITS : RARE_SIGN_BITS;
}

/**
 * Returns the improbability of a text in the language that suits it best, in bits.
 * @param bound a cost from which the exact value does not matter
 */
export function textCost(
  { words, signBits }: ForeignText,
  languages: readonly string[],
  bound = Infinity,
): number {
  if (words.size === 0) return signBits;
  let best = bound;
  for (const language of languages)
    best = Math.min(best, wordsCost(words, language, best - signBits) + signBits);
  return best;
}

function wordsCost(words: ForeignText['words'], language: string, bound: number): number {
  const costOf = wordCostOf(language);
  let sum = 0;
  for (const [word, count] of words) {
    sum += costOf(word) * count;
    if (sum > bound) return sum;
  }
  return sum;
}

/** A letter of the right script that the language does not have, and one of another script. */
const FOREIGN_LETTER_BITS = 14;
const FOREIGN_SCRIPT_BITS = 22;
/** A character of the right script that is too rare for the tables. */
const RARE_CHARACTER_BITS = 18;
/** A small letter before a capital one. */
const MIXED_CASE_BITS = 8;

/** Half-width kana, which old programs of banks and shops write, are as frequent among themselves as full ones, but rarer. */
const HALF_WIDTH_BITS = 2;
const SOUND_MARKS = 'ﾞﾟ';
const SOUND_MARK_BITS = 4;

/** Tells how unlikely a word is in a language, in bits: the logarithm of one over its probability. */
type WordCost = (word: string) => number;

const loaded = new Map<string, WordCost>();

/** The model of a language, which is made on first use. */
function wordCostOf(language: string): WordCost {
  const known = loaded.get(language);
  if (known) return known;
  const cost = LETTER_PAIRS[language] ? pairCost(language) : characterCost(language);
  loaded.set(language, cost);
  return cost;
}

/** The place of letters that the table does not have, and of the ends of words, before those of its letters. */
const BETWEEN_WORDS = 0;

function pairCost(language: string): WordCost {
  const { letters = '', bits = '' } = LETTER_PAIRS[language] ?? {};
  const places = new Map([...letters].map((letter, index) => [letter, index + 1]));
  const size = places.size + 1;
  const costs = Float32Array.from(bits, (digit) => parseInt(digit, 36) / 2);
  const script = scriptOf(letters);
  const costOf = (previous: number, next: number): number => costs[previous * size + next] ?? 0;
  return (word) => {
    let sum = 0;
    let previous = BETWEEN_WORDS;
    let wasSmall = false;
    for (const character of word) {
      const small = [...character.toLowerCase()][0] ?? character;
      if (small !== character && wasSmall) sum += MIXED_CASE_BITS;
      wasSmall = small === character && character.toUpperCase() !== character;
      const place = places.get(small);
      sum += place === undefined ? foreignBits(small, script) : costOf(previous, place);
      previous = place ?? BETWEEN_WORDS;
    }
    return sum + costOf(previous, BETWEEN_WORDS);
  };
}

const foreignBits = (letter: string, script: Script): number =>
  isOfScript(letter, script) ? FOREIGN_LETTER_BITS : FOREIGN_SCRIPT_BITS;

function characterCost(language: string): WordCost {
  const costs = new Map<string, number>();
  for (const [bits, characters] of (FREQUENT_CHARACTERS[language] ?? []).entries())
    for (const character of characters) costs.set(character, bits);
  if (language === 'ja') addHalfWidth(costs);
  return (word) => {
    let sum = 0;
    for (const character of word)
      sum +=
        costs.get(character) ??
        (isOfScript(character, 'east-asian') ? RARE_CHARACTER_BITS : FOREIGN_SCRIPT_BITS);
    return sum;
  };
}

function addHalfWidth(costs: Map<string, number>): void {
  for (let code = 0xff66; code <= 0xff9f; code += 1) {
    const half = String.fromCodePoint(code);
    const full = costs.get(half.normalize('NFKC'));
    if (full !== undefined) costs.set(half, full + HALF_WIDTH_BITS);
  }
  for (const mark of SOUND_MARKS) costs.set(mark, SOUND_MARK_BITS);
}

/** Writing systems, as far as encodings differ by them. */
type Script = 'latin' | 'greek' | 'cyrillic' | 'hebrew' | 'arabic' | 'thai' | 'east-asian' | 'other';

/** The ranges of the letters of scripts in Unicode, first and last. */
const RANGES: readonly (readonly [number, number, Script])[] = [
  [0x41, 0x24f, 'latin'],
  [0x300, 0x36f, 'latin'],
  [0x370, 0x3ff, 'greek'],
  [0x400, 0x52f, 'cyrillic'],
  [0x590, 0x5ff, 'hebrew'],
  [0x600, 0x6ff, 'arabic'],
  [0xe00, 0xe7f, 'thai'],
  [0x1e00, 0x1eff, 'latin'],
  [0x3005, 0x3007, 'east-asian'],
  [0x3040, 0x30ff, 'east-asian'],
  [0x4e00, 0x9fff, 'east-asian'],
  [0xac00, 0xd7a3, 'east-asian'],
];

/** The script of the first character of a text. */
function scriptOf(text: string): Script {
  const codePoint = text.codePointAt(0) ?? 0;
  return RANGES.find(([first, last]) => codePoint >= first && codePoint <= last)?.[2] ?? 'other';
}

const isOfScript = (character: string, script: Script): boolean => scriptOf(character) === script;
