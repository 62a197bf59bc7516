/**
 * Splits text as the pre-tokenizer of cl100k_base does (https://github.com/openai/tiktoken, its
 * `pat_str`). It does so without a regular expression, because that is what makes tiktoken
 * slow. No token crosses the border between two pieces.
 */
import { createKinds, kindOf, widthAt } from './code-points.js';

/** The longest piece in UTF-16 units. Longer runs are cut, so that a part of one can be counted alone. */
export const MAX_PIECE_LENGTH = 128;

const OTHER = 1;
const LETTER = 2;
const NUMBER = 3;
const SPACE = 4;
const NEWLINE = 5;

const kinds = createKinds((character) => {
  if (/[\r\n]/u.test(character)) return NEWLINE;
  if (/\p{White_Space}/u.test(character)) return SPACE;
  if (/\p{L}/u.test(character)) return LETTER;
  if (/\p{N}/u.test(character)) return NUMBER;
  return OTHER;
});

/**
 * The end of the piece that starts at `start`, of at most `longest` units or two more. Its cases are in the order of the
 * pattern's alternatives.
 */
export function pieceEnd(text: string, start: number, longest = MAX_PIECE_LENGTH): number {
  const limit = Math.min(text.length, start + longest);
  const first = kindAt(text, start);
  if (first === LETTER) return runEnd(text, start, limit, LETTER);
  if (first === NUMBER) return numberEnd(text, start);
  const next = start + widthAt(text, start);
  if (first === OTHER) {
    const contraction = contractionEnd(text, start);
    if (contraction > 0) return contraction;
    if (next < text.length && kindAt(text, next) === LETTER) return runEnd(text, next, limit, LETTER);
    return punctuationEnd(text, start, limit);
  }
  if (first === SPACE && next < text.length) {
    const second = kindAt(text, next);
    if (second === LETTER) return runEnd(text, next, limit, LETTER);
    if (second === OTHER && text.charCodeAt(start) === 0x20) return punctuationEnd(text, next, limit);
  }
  return whitespaceEnd(text, start, limit);
}

const kindAt = (text: string, position: number): number => kindOf(kinds, text, position);

function runEnd(text: string, from: number, limit: number, kind: number): number {
  let position = from;
  while (position < limit && kindAt(text, position) === kind) position += widthAt(text, position);
  return position;
}

function numberEnd(text: string, start: number): number {
  let position = start;
  for (let digits = 0; digits < 3 && position < text.length; digits += 1) {
    if (kindAt(text, position) !== NUMBER) break;
    position += widthAt(text, position);
  }
  return position;
}

function contractionEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== 0x27) return 0;
  const letters = text.slice(start + 1, start + 3);
  if (/^[stmd\u017f]/i.test(letters)) return start + 2;
  return /^(?:re|ve|ll)$/i.test(letters) ? start + 3 : 0;
}

function punctuationEnd(text: string, from: number, limit: number): number {
  const end = runEnd(text, from, limit, OTHER);
  return runEnd(text, end, limit, NEWLINE);
}

function whitespaceEnd(text: string, start: number, limit: number): number {
  let end = start;
  let afterNewline = 0;
  for (; end < limit; end += 1) {
    const kind = kindAt(text, end);
    if (kind === NEWLINE) afterNewline = end + 1;
    else if (kind !== SPACE) break;
  }
  if (afterNewline > 0) return afterNewline;
  // The last blank of a run belongs to the word that follows.
  return end < text.length && end - start > 1 && end < limit ? end - 1 : end;
}
