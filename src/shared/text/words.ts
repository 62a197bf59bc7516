import { stemmer } from 'stemmer';
import { at } from '../at.js';
import { stopWords } from './stop-words.js';

const ASCII = /^[\0-\x7f]*$/u;
/** Anything longer is not a word of a language. It is one term as it stands. */
export const MAX_WORD_LENGTH = 40;

/** Scripts without spaces between words, and Korean, whose particles are attached to the words. */
const UNSPACED_CLASS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}ー\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, 'u');
const RUNS = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, 'gu');

export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

/** Most words: letters and digits of ASCII, with no capital but the first letter. There is nothing to split. */
const PLAIN = /^[A-Za-z]?[a-z0-9]*$/u;

/** Splits a word into terms: none for a stop word, several for a compound identifier or an unspaced script. */
export function splitWord(word: string): string[] {
  if (PLAIN.test(word)) return foldWord(word);
  if (!isUnspaced(word)) return splitApostrophe(word);
  return (word.match(RUNS) ?? []).flatMap((run) => (isUnspaced(run) ? pairs(run) : splitApostrophe(run)));
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${at(characters, index)}${character}`);
}

const ENGLISH_ENDINGS = new Set(['s', 're', 've', 'll', 'd', 'm']);

function splitApostrophe(word: string): string[] {
  const [start = '', end] = word.split(/['’]/u);
  if (end === undefined) return splitCapitals(word);
  const ending = end.toLowerCase();
  if (ending === 't' && /n$/iu.test(start)) return [];
  return ENGLISH_ENDINGS.has(ending)
    ? splitCapitals(start)
    : [...splitCapitals(start), ...splitCapitals(end)];
}

const CAPITAL_STARTS = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u;

/** `parseHttpHeader` is found by its whole name and by its parts. Parts of one or two letters (`mRNA`) say nothing. */
function splitCapitals(word: string): string[] {
  if (word.length > MAX_WORD_LENGTH) return foldWord(word);
  const parts = word.split(CAPITAL_STARTS);
  const named = parts.length === 1 ? [] : parts.filter((part) => part.length > 2);
  return [word, ...named].flatMap(foldWord);
}

function foldWord(word: string): string[] {
  const folded = foldLetters(word.toLowerCase());
  if (stopWords.has(folded)) return [];
  return [folded.length > MAX_WORD_LENGTH ? folded : stemWord(folded)];
}

const LETTERS = /^[\p{L}\p{M}]+$/u;
const LATIN = /^\p{sc=Latin}/u;
/** Porter's stemmer has removed English endings already; other scripts are only cut. */
const LATIN_STEM = 9;
const OTHER_STEM = 7;

/**
 * Cuts Porter's stem to a number of letters. In most languages, what follows them distinguishes
 * forms of a word rather than words (McNamee et al., SIGIR 2009; German nDCG@10 rose by .018,
 * English stayed the same). Numbers and codes keep every digit.
 */
function stemWord(word: string): string {
  const stem = stemmer(word);
  return LETTERS.test(stem) ? stem.slice(0, LATIN.test(stem) ? LATIN_STEM : OTHER_STEM) : stem;
}

const LATIN_ACCENTS = /(?<=[a-zæœø])[\u0300-\u036f]+/gu;
const MIN_UNACCENTED_LENGTH = 6;
const ARABIC_POINTS = /[\u064b-\u0652\u0670\u0640]/gu;
const ARABIC_ARTICLE = /^(?:[وبكف]?ال|لل)(?=.{2})/u;
const SPELLINGS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ى: 'ي',
  ة: 'ه',
};

/**
 * Folds spellings. People often leave out the accents of Latin letters when they search. Short words keep them, because
 * there accents distinguish words (año and ano, the syllables of Vietnamese). Arabic loses points, variants of letters,
 * and the article, as in Larkey's light stemmer. Marks of other scripts are letters in their own right.
 */
function foldLetters(lower: string): string {
  if (ASCII.test(lower)) return lower;
  const arabic = lower.replace(ARABIC_POINTS, '').replace(ARABIC_ARTICLE, '');
  const bare =
    lower.length < MIN_UNACCENTED_LENGTH
      ? arabic
      : arabic.normalize('NFD').replace(LATIN_ACCENTS, '').normalize('NFC');
  return bare.replace(/[ßæœøłđıأإآٱىة]/gu, (letter) => SPELLINGS[letter] ?? letter);
}
