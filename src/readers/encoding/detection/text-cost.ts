import { wordCostOf } from './languages.js';

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
      if (LETTER.test(token)) words.set(token, (words.get(token) ?? 0) + 1);
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
