import { isRightToLeft } from './piece.js';

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** The places where words of both kinds stand next to each other without a space. */
const BETWEEN_SCRIPTS =
  /(?<=[\u05d0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])(?=\p{Script=Latin})|(?<=\p{Script=Latin})(?=[\u05d0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])/gu;
/**
 * Alef, and then the ligature of lam and alef with its two letters turned around, which readers make of a font that has a
 * glyph for both: no Arabic word has two alefs in a row.
 */
const TURNED_LIGATURE = /\u0627([\u0622\u0623\u0625\u0627])\u0644/g;
/** An article alone, which is the word for "no" (and "and no") turned around in the same way. */
const TURNED_NO = /(?<![\p{L}\p{M}])(\u0648?)\u0627\u0644(?![\p{L}\p{M}])/gu;
const LETTER = /\p{L}/u;

/**
 * Returns the words of a line in the order in which they are read. PDFium's reader gives the words of Arabic and Hebrew
 * lines from the left, each with its letters in the right order; names in Latin letters within them run from the left.
 */
export function inReadingOrder(line: string): string {
  if (!RIGHT_TO_LEFT.test(line) || !isRightToLeft(line)) return line;
  const words = line.replace(BETWEEN_SCRIPTS, ' ').split(' ').toReversed().map(withEndAtEnd);
  return withRunsFromTheLeft(words)
    .join(' ')
    .replace(TURNED_LIGATURE, '\u0627\u0644$1')
    .replace(TURNED_NO, '$1\u0644\u0627');
}

/** Puts runs of words that are read from the left into their own order. */
function withRunsFromTheLeft(words: readonly string[]): string[] {
  const ordered: string[] = [];
  let run: string[] = [];
  let ending: string[] = [];
  const close = () => {
    for (const word of run.toReversed()) ordered.push(word);
    for (const word of ending) ordered.push(word);
    run = [];
    ending = [];
  };
  for (const word of words) {
    if (isFromTheLeft(word)) {
      for (const neutral of ending) run.push(neutral);
      run.push(word);
      ending = [];
    } else if (run.length > 0 && isNeutral(word)) ending.push(word);
    else {
      close();
      ordered.push(word);
    }
  }
  close();
  return ordered;
}

const isFromTheLeft = (word: string): boolean => LETTER.test(word) && !RIGHT_TO_LEFT.test(word);
const isNeutral = (word: string): boolean => !LETTER.test(word);

/** A sign that ends a sentence stands to the left of its last word, thus before it. */
function withEndAtEnd(word: string): string {
  const sign = /^[.,:;!?،؛؟]{1,3}(?=[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])/.exec(word);
  return sign ? word.slice(sign[0].length) + sign[0] : word;
}
