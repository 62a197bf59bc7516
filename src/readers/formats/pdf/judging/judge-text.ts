import { countMatches } from '../../../blocks/matches.js';
/** The share of characters without a meaning from which a text is garbled. */
const MAX_UNREADABLE = 0.3;

/** A page that is mostly picture and has fewer characters of text is recognized, too. */
const FEW_CHARACTERS = 200;

export type Verdict = 'empty' | 'garbled' | 'readable';

/** Tells whether a page's text can be the text that the page shows. */
export function judgeText(text: string): Verdict {
  if (text.trim() === '') return 'empty';
  if (isMostlySigns(text)) return 'garbled';
  if (!/[\0-\x08\x0e-\x1f\x7f-\x9f\ue000-\uffff]/.test(text)) return 'readable';
  const characters = countMatches(text, /\S/gu);
  // Replacement characters, private use, and control characters come from fonts without a map to characters.
  const unreadable = countMatches(text, /[\ufffd\p{Co}\p{Cn}\0-\x08\x0e-\x1f\x7f-\x9f]/gu);
  return unreadable > characters * MAX_UNREADABLE ? 'garbled' : 'readable';
}

/** This many signs, with fewer letters and digits than a fifth of them, are no text but a font whose map is wrong. */
const MANY_SIGNS = 100;
/** A text that begins with this many letters need not be counted. */
const ENOUGH_LETTERS = 200;

function isMostlySigns(text: string): boolean {
  if (countMatches(text.slice(0, 1_000), /[a-z]/gi) > ENOUGH_LETTERS) return false;
  const others = text.match(/[^\s\p{L}\p{M}\p{N}\ufffd\p{C}]/gu) ?? [];
  // Lines of dots or dashes are drawn with signs, but a sign that follows itself counts once.
  const signs = others.filter((sign, index) => sign !== others[index - 1]).length;
  if (signs < MANY_SIGNS) return false;
  return countMatches(text, /[\p{L}\p{N}]/gu) * 5 < signs;
}

const READABLE = /[^\s\ufffd\p{Co}\p{Cn}\p{Cc}]/u;

/** The number of characters that can be read. */
export function readableCharacters(text: string): number {
  return countMatches(text, new RegExp(READABLE, 'gu'));
}

/** Tells whether a text is shorter than the text of pages that are text. */
export function hasFewCharacters(text: string): boolean {
  let count = 0;
  for (const character of text) {
    if (READABLE.test(character)) count += 1;
    if (count >= FEW_CHARACTERS) return false;
  }
  return true;
}
