import { createKinds, kindOf, widthAt } from './code-points.js';

const ASCII = /^[\0-\x7f]*$/u;
/** Normalising is quadratic in runs of combining marks, so these are cut where UAX #15 cuts them (stream-safe text). */
const MARK_RUNS = /(\p{M}{30})\p{M}+/gu;

/** Writes in one way what texts write in several (NFKC). Words are found in such a text. */
export function normalizeText(text: string): string {
  return ASCII.test(text) ? text : text.replace(MARK_RUNS, '$1').normalize('NFKC');
}

const BETWEEN = 1;
const LETTER = 2;
const DIGIT_OR_MARK = 3;
const APOSTROPHE = 0x27;
const CURLY_APOSTROPHE = 0x2019;

const kinds = createKinds((character) => {
  if (/\p{L}/u.test(character)) return LETTER;
  return /[\p{N}\p{M}]/u.test(character) ? DIGIT_OR_MARK : BETWEEN;
});

/** Where the first word from `from` on begins; the text's length when there is none. */
export function wordStart(text: string, from: number): number {
  let position = from;
  while (position < text.length && kindOf(kinds, text, position) === BETWEEN)
    position += widthAt(text, position);
  return position;
}

/** Where a word ends: a run of letters, digits and marks, with the letters that follow an apostrophe. */
export function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && kindOf(kinds, text, end) !== BETWEEN) end += widthAt(text, end);
  const unit = text.charCodeAt(end);
  if (unit !== APOSTROPHE && unit !== CURLY_APOSTROPHE) return end;
  let ending = end + 1;
  while (ending < text.length && kindOf(kinds, text, ending) === LETTER) ending += widthAt(text, ending);
  return ending > end + 1 ? ending : end;
}
