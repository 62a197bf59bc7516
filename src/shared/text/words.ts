import { stemmer } from 'stemmer';
import { foldAccents, foldLetters, toneLast } from './analysis/fold-letters.js';
import { widthAt } from './code-points.js';
import { asideBy, asideTerm, HASH_START, hashTerm, hashUnits, namedBy } from './hash-term.js';
import { stopWords } from './stop-words.js';

/** Anything longer is not a word of a language. It is one term as it stands. */
export const MAX_WORD_LENGTH = 40;

/** The terms of a piece of a text. */
export interface Terms {
  /** The terms by which texts are found and measured. */
  readonly named: readonly number[];
  /** Further names of the same, which do not count in the length. */
  readonly joined: readonly number[];
  /** More of these, which queries do not ask for. */
  readonly silent: readonly number[];
  /** Stop words, which are searched where a query has nothing else. */
  readonly stops: readonly number[];
  /** The single characters of scripts without spaces, which are searched where a query has no two in a row. */
  readonly singles: readonly number[];
}

const NONE: readonly number[] = [];

/** Scripts without spaces between words, and Korean, whose particles are attached to the words. */
const UNSPACED_CLASS =
  'Han Hiragana Katakana Bopomofo Yi Hangul Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Tai_Viet'
    .split(' ')
    .map((script) => `\\p{sc=${script}}`)
    .join('')
    .concat('ー');
const UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, 'u');
const RUNS = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, 'gu');

export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

/** Most words: letters and digits of ASCII, with no capital but the first letter. There is nothing to split. */
const PLAIN = /^[A-Za-z]?[a-z0-9]*$/u;

/** The treatment of accents: words are taken without them, or are told apart by them, as in Vietnamese. */
export type Accents = 'folded' | 'kept';

/** Splits a word into terms: none but a stop word, several for a compound identifier or an unspaced script. */
export function splitWord(word: string, accents: Accents): Terms {
  if (!isUnspaced(word)) return collect(PLAIN.test(word) ? [word] : splitSpaced(word), accents);
  const runs = word.match(RUNS) ?? [];
  const spaced = runs.filter((run) => !isUnspaced(run)).flatMap(splitSpaced);
  const terms = collect(spaced, accents);
  const named = [...terms.named];
  const singles: number[] = [];
  for (const run of runs) if (isUnspaced(run)) addCharacters(run, named, singles);
  return { ...terms, named, singles };
}

/** Adds the pairs of characters of a run, and each of them by itself. */
function addCharacters(run: string, pairs: number[], singles: number[]): void {
  let before: number | null = null;
  for (let start = 0; start < run.length;) {
    const end = start + widthAt(run, start);
    if (before !== null) pairs.push(namedBy(hashUnits(before, run, start, end)));
    before = hashUnits(HASH_START, run, start, end);
    singles.push(asideBy(before));
    start = end;
  }
}

/** The terms of words that are folded and stemmed, or kept aside. */
function collect(words: readonly string[], accents: Accents): Terms {
  const named: number[] = [];
  const stops: number[] = [];
  const silent: number[] = [];
  for (const word of words) {
    const folded = foldLetters(word.toLowerCase());
    if (isStopWord(folded)) {
      stops.push(asideTerm(folded));
      continue;
    }
    const bare = foldAccents(folded);
    if (bare === '') continue;
    named.push(stemTerm(accents === 'kept' ? toneLast(folded) : bare));
    if (accents === 'kept' && bare !== folded) silent.push(stemTerm(bare));
    const bit = lonePart(word);
    if (bit !== null) silent.push(...collect([bit], accents).named);
  }
  return { named, joined: NONE, silent, stops, singles: NONE };
}

const stemTerm = (word: string): number => hashTerm(word.length > MAX_WORD_LENGTH ? word : stemWord(word));

/** A contraction is a stop word as a whole (`don't`). */
const isStopWord = (folded: string): boolean => stopWords.has(folded) || folded.endsWith("n't");

const NON_JOINER = '\u200c';

/** Splits a word of a script with spaces at apostrophes, capitals and Persian joints. */
function splitSpaced(word: string): string[] {
  if (word.includes(NON_JOINER)) {
    const parts = word.split(NON_JOINER).filter((part) => part !== '');
    return [...parts, parts.join('')];
  }
  const [start = '', end] = word.split(/['’]/u);
  if (end === undefined) return splitCapitals(word);
  const ending = end.toLowerCase();
  if (ending === 't' && /n$/iu.test(start)) return [`${start}'t`];
  return ENGLISH_ENDINGS.has(ending)
    ? splitCapitals(start)
    : [...splitCapitals(start), ...splitCapitals(end)];
}

const ENGLISH_ENDINGS = new Set(['s', 're', 've', 'll', 'd', 'm']);

const CAPITAL_STARTS = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u;

/** Returns the parts of a word at its capitals, without parts of one or two letters, which say nothing. */
function partsOf(word: string): string[] {
  if (word.length > MAX_WORD_LENGTH) return [];
  const parts = word.split(CAPITAL_STARTS);
  return parts.length === 1 ? [] : parts.filter((part) => part.length > 2);
}

/** A part of this many letters beside bits is no word of its own: `mRNA`, `clpC`. */
const LONE_PART = 3;

/** `parseHttpHeader` is found by its whole name and by its parts. */
function splitCapitals(word: string): string[] {
  return lonePart(word) === null ? [word, ...partsOf(word)] : [word];
}

/** Returns the part that a name is also found by. Its query does not ask for it, since the name would count twice. */
function lonePart(word: string): string | null {
  if (PLAIN.test(word)) return null;
  const [part = '', other] = partsOf(word);
  return other === undefined && part.length === LONE_PART ? part : null;
}

const LETTERS = /^[\p{L}\p{M}]+$/u;
const LATIN = /^\p{sc=Latin}/u;
/** Porter's stemmer has removed English endings already; other scripts are only cut. */
const LATIN_STEM = 9;
const OTHER_STEM = 7;

/**
 * Cuts Porter's stem to a number of letters. In most languages, the rest distinguishes forms of a word rather than words
 * (McNamee et al., SIGIR 2009; German nDCG@10 rose by .018, English stayed the same). Numbers and codes keep every digit.
 */
function stemWord(word: string): string {
  const stem = stemmer(word);
  return LETTERS.test(stem) ? stem.slice(0, LATIN.test(stem) ? LATIN_STEM : OTHER_STEM) : stem;
}

/** The term of several words that are written as one: `e-mail` is also `email`. None for a stop word. */
export function joinedTerm(whole: string): readonly number[] {
  return collect([whole], 'folded').named;
}
