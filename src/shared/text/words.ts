import { stemmer } from 'stemmer';
import { foldAccents, foldLetters, toneLast } from './analysis/normalize-text.js';
import { widthAt } from './code-points.js';
import { asideBy, asideTerm, HASH_START, hashTerm, hashUnits, namedBy } from './hash-term.js';
import { isDotted, isParagraph, standsOut } from './word-spans.js';

/**
 * English words that carry no subject of their own: the list of the Snowball project (BSD licence), without
 * contractions, of which `isStopWord` and `splitSpaced` take care. Frequent words of other languages get a low weight from
 * `background-terms.ts` instead, since many of them are content words elsewhere (German "die", French "on").
 */
export const stopWords: ReadonlySet<string> = new Set(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
  its itself they them their theirs themselves what which who whom this that these those am is are was were be been
  being have has had having do does did doing would should could ought cannot a an the and but if or because as until
  while of at by for with about against between into through during before after above below to from up down in out on
  off over under again further then once here there when where why how all any both each few more most other some such
  no nor not only own same so than too very`.split(/\s+/u),
);

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

/** The term of a character of an unspaced script by itself. */
export const characterTerm = (text: string, start: number, end: number): number =>
  asideBy(hashUnits(HASH_START, text, start, end));

/** The term of two such characters, of which the second begins at `middle`. */
export const pairTerm = (text: string, start: number, middle: number, end: number): number =>
  namedBy(hashUnits(hashUnits(HASH_START, text, start, middle), text, middle, end));

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
  const parts = word.split(/['’]/u);
  if (parts.length === 1) return splitCapitals(word);
  const [start, end] = parts;
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
  const parts = partsOf(word);
  return parts.length === 1 && parts[0].length === LONE_PART ? parts[0] : null;
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
function joinedTerm(whole: string): readonly number[] {
  return collect([whole], 'folded').named;
}

const FULL_STOP = 0x2e;
const BLANK = 0x20;
const LAST_CAPITAL = 0x5a;
const isCapital = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/** Returns a term that exists because of its surroundings: `.net`, `§12`, `art 6`, or `IT` where it is no stop word. */
export function markedTerm(text: string, start: number, end: number): number | null {
  const first = text.charCodeAt(start);
  const before = text.charCodeAt(start - 1);
  // Nearly all words are such, so that this is quick.
  if (first > LAST_CAPITAL && before === BLANK) return null;
  if (isDigit(first))
    return isParagraph(text, start) ? hashTerm(`§${text.slice(start, end)}`) : numberedTerm(text, start, end);
  if (before === FULL_STOP && isDotted(text, start))
    return hashTerm(`.${text.slice(start, end).toLowerCase()}`);
  return isCapital(first) && end - start <= MAX_CAPITALS ? capitalTerm(text, start, end) : null;
}

const NUMBERED = /(?<![\p{L}\p{M}\p{N}])(\p{L}[\p{L}\p{M}]{0,13})(\.?) $/u;
const BEFORE_NUMBER = 17;
const MAX_ABBREVIATION_LENGTH = 5;
const MAX_DIGITS = 4;
/** Words that number the parts of a text, without accents, in the languages of most laws and contracts here. */
const DESIGNATIONS = new Set(
  [
    'article section paragraph clause chapter part title annex appendix schedule rule item figure table page version',
    'art sec par cl ch fig tab vol pp',
    'artikel abschnitt absatz ziffer kapitel teil titel anhang anlage regel abbildung tabelle seite nummer satz',
    'abs kap nr ziff anh abb lit rn rz',
    'alinea chapitre partie titre annexe regle tableau numero',
    'articulo seccion parrafo clausula capitulo parte titulo anexo regla figura tabla pagina',
    'articolo sezione paragrafo comma clausola capitolo titolo allegato regola tabella',
    'artigo secao paragrafo regra tabela lid hoofdstuk deel bijlage pagina',
  ].flatMap((words) => words.split(' ')),
);

/**
 * Returns the term of a number together with its designation: `Art. 6`, `Section 4`. So `Art. 6 Abs. 1` is not `Art. 1 Abs.
 * 6`.
 */
function numberedTerm(text: string, start: number, end: number): number | null {
  if (end - start > MAX_DIGITS || text.charCodeAt(start - 1) !== BLANK) return null;
  for (let at = start; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return null;
  const found = NUMBERED.exec(text.slice(Math.max(0, start - BEFORE_NUMBER), start));
  if (!found) return null;
  const word = foldAccents(found[1].toLowerCase());
  const isAbbreviated = found[2] === '.' && word.length <= MAX_ABBREVIATION_LENGTH;
  if (!isAbbreviated && !DESIGNATIONS.has(word)) return null;
  return stopWords.has(word) ? null : hashTerm(`${word} ${text.slice(start, end)}`);
}

const MAX_CAPITALS = 4;
/** Stop words in capitals that are words of their own where they stand out. `I` never does. */
const CAPITALS = new Map(
  [...stopWords]
    .filter((word) => word !== 'i' && word.length <= MAX_CAPITALS)
    .map((word) => [word.toUpperCase(), hashTerm(word.toUpperCase())]),
);

function capitalTerm(text: string, start: number, end: number): number | null {
  if (end - start > 1 && !isCapital(text.charCodeAt(start + 1))) return null;
  const term = CAPITALS.get(text.slice(start, end));
  return term !== undefined && standsOut(text, start, end) ? term : null;
}

const WORDS = /[\p{L}\p{N}\p{M}\u200c]+(?:['’]\p{L}+)?/gu;
const HYPHEN = /[-‐_]/u;
const HYPHENS = /[-‐_]/gu;
const DIGIT = /\d/u;
/** A letter or two that are no word of their own beside a hyphen: `e-mail`, `wi-fi`. */
const BIT = /^\p{L}{1,2}$/u;

/**
 * Returns the terms of words that signs join without a blank, or that have signs of their own: the terms of each word, and
 * the whole. `COVID-19` is also `COVID19`, `1,000` is also `1000`, and `4.2.1` is a term of its own, as are `C++` and
 * `i18n.ts`.
 */
export function splitCompound(compound: string, accents: Accents): Terms {
  const words = compound.match(WORDS) ?? [];
  const whole = foldAccents(foldLetters(compound.toLowerCase()));
  const isBit = (word: string): boolean => HYPHEN.test(whole) && BIT.test(word);
  const parts = words.filter((word) => !isBit(word)).map((word) => splitWord(word, accents));
  const bits = words.filter(isBit).map((word) => splitWord(word, accents));
  const all = [...parts, ...bits];
  const joined = joinedTerms(whole);
  const isAsked = isName(compound, whole) || bits.length > 0;
  return {
    named: parts.flatMap(({ named }) => named),
    joined: isAsked ? joined : [],
    silent: [
      ...all.flatMap(({ silent }) => silent),
      ...bits.flatMap(({ named }) => named),
      ...(isAsked ? [] : joined),
    ],
    stops: all.flatMap(({ stops }) => stops),
    singles: all.flatMap(({ singles }) => singles),
  };
}

const ACRONYM = /^\p{L}(?:\.\p{L})+$/u;

/**
 * Tells whether a query asks for the whole, too: not for the whole of `well-known` and of `e.g.`, which would outweigh its
 * words.
 */
function isName(compound: string, whole: string): boolean {
  if (DIGIT.test(whole)) return true;
  return ACRONYM.test(whole) ? compound === compound.toUpperCase() : !HYPHEN.test(whole);
}

/** Numbers with groups of three digits, or of two and three as in India, with or without a fraction. */
const GROUPED =
  /^(?:\d{1,3}([.,'])\d{3}(?:\1\d{3})*(?:(?!\1)[.,](\d+))?|\d{1,2}(?:,\d\d)+,\d{3}(?:\.(\d+))?)$/u;
const NOT_DIGITS = /\D/gu;
const FRACTION = /^\d+,\d+$/u;
const VERSION = /^v(?=\d+\.\d)/u;
const WITHOUT_SIGNS = /^[\p{L}\p{N}\p{M}]+$/u;

function joinedTerms(whole: string): readonly number[] {
  const grouped = GROUPED.exec(whole);
  if (grouped) return numberTerms(whole, grouped.at(2) ?? grouped.at(3));
  if (FRACTION.test(whole)) return [hashTerm(whole.replace(',', '.'))];
  const undotted = ACRONYM.test(whole) ? whole.replaceAll('.', '') : whole;
  const joined = undotted.replace(HYPHENS, '').replace(VERSION, '');
  return WITHOUT_SIGNS.test(joined) ? joinedTerm(joined) : [hashTerm(joined)];
}

function numberTerms(whole: string, fraction: string | undefined): number[] {
  if (fraction === undefined) return [hashTerm(whole.replace(NOT_DIGITS, ''))];
  const digits = whole.slice(0, -fraction.length - 1).replace(NOT_DIGITS, '');
  return [hashTerm(digits), hashTerm(`${digits}.${fraction}`)];
}
