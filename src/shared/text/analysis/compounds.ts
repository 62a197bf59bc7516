import { hashTerm } from '../hash-term.js';
import { joinedTerm, splitWord, type Accents, type Terms } from '../words.js';
import { foldAccents, foldLetters } from './fold-letters.js';

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
const PLAIN = /^[\p{L}\p{N}\p{M}]+$/u;

function joinedTerms(whole: string): readonly number[] {
  const grouped = GROUPED.exec(whole);
  if (grouped) return numberTerms(whole, grouped[2] ?? grouped[3]);
  if (FRACTION.test(whole)) return [hashTerm(whole.replace(',', '.'))];
  const undotted = ACRONYM.test(whole) ? whole.replaceAll('.', '') : whole;
  const joined = undotted.replace(HYPHENS, '').replace(VERSION, '');
  return PLAIN.test(joined) ? joinedTerm(joined) : [hashTerm(joined)];
}

function numberTerms(whole: string, fraction: string | undefined): number[] {
  if (fraction === undefined) return [hashTerm(whole.replace(NOT_DIGITS, ''))];
  const digits = whole.slice(0, -fraction.length - 1).replace(NOT_DIGITS, '');
  return [hashTerm(digits), hashTerm(`${digits}.${fraction}`)];
}
