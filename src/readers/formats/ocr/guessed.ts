import type { Piece } from '../pages/layout/piece.js';

/**
 * Measured on pages of 100 to 300 dots to the inch, read with data of English and German: pages in Latin letters, noisy
 * ones too, are surer than .77, pages in Cyrillic, Greek and Arabic less sure than .61.
 */
const UNSURE = 0.62;
/** Below this, it matters how many words look like none: up to .03 of the words in Latin letters, .15 to .56 of the others. */
const SURE = 0.75;
const MAX_STRANGE = 0.12;
/** Fewer words tell nothing. */
const MIN_WORDS = 10;

/** Tells whether recognized text is mostly guessed, such as on a page in a script without data. */
export function isGuessed({
  confidence,
  pieces,
}: {
  readonly confidence: number;
  readonly pieces: readonly Pick<Piece, 'text'>[];
}): boolean {
  if (confidence < UNSURE) return true;
  if (confidence >= SURE) return false;
  const words = pieces.flatMap(({ text }) => text.match(/[\p{L}\p{N}]+/gu) ?? []);
  return words.length >= MIN_WORDS && words.filter(isStrange).length > MAX_STRANGE * words.length;
}

/**
 * Tells whether a word has capitals or digits after small letters, or many consonants and no vowel, as words of other
 * scripts get when they are read as Latin.
 */
function isStrange(word: string): boolean {
  if (/\p{Ll}\p{Lu}|\p{L}\p{Nd}|\p{Nd}\p{L}{2}/u.test(word)) return true;
  return /^\p{Script=Latin}{4,}$/u.test(word) && !/[aeiouy]/i.test(word.normalize('NFD'));
}
