import { hashTerm } from '../hash-term.js';
import { stopWords } from '../stop-words.js';
import { isDotted, isParagraph, standsOut } from '../word-spans.js';

const FULL_STOP = 0x2e;
const BLANK = 0x20;
const LAST_CAPITAL = 0x5a;
const isCapital = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/** A term that is there because of what stands around a word: `.net`, `§12`, or `IT` where it is no stop word. */
export function markedTerm(text: string, start: number, end: number): number | null {
  const first = text.charCodeAt(start);
  const before = text.charCodeAt(start - 1);
  // Nearly all words are such, so that this is quick.
  if (first > LAST_CAPITAL && before === BLANK) return null;
  if (isDigit(first)) return isParagraph(text, start) ? hashTerm(`§${text.slice(start, end)}`) : null;
  if (before === FULL_STOP && isDotted(text, start))
    return hashTerm(`.${text.slice(start, end).toLowerCase()}`);
  return isCapital(first) && end - start <= LONGEST ? capitalTerm(text, start, end) : null;
}

const LONGEST = 4;
/** Stop words in capitals that are words of their own where they stand out. `I` never does. */
const CAPITALS = new Map(
  [...stopWords]
    .filter((word) => word !== 'i' && word.length <= LONGEST)
    .map((word) => [word.toUpperCase(), hashTerm(word.toUpperCase())]),
);

function capitalTerm(text: string, start: number, end: number): number | null {
  if (end - start > 1 && !isCapital(text.charCodeAt(start + 1))) return null;
  const term = CAPITALS.get(text.slice(start, end));
  return term !== undefined && standsOut(text, start, end) ? term : null;
}
