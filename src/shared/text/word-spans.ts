import { createKinds, kindOf, widthAt } from './code-points.js';

const BETWEEN = 1;
const LETTER = 2;
const DIGIT = 3;
const MARK = 4;
const EMOJI = 5;

/** Signs that look like letters of their own, other than trade marks. */
const PICTURE =
  /[\p{Emoji_Presentation}\p{Regional_Indicator}]|(?=[\u2600-\u{1ffff}])\p{Extended_Pictographic}/u;

const kinds = createKinds((character) => {
  if (/\p{L}/u.test(character)) return LETTER;
  if (/\p{N}/u.test(character)) return DIGIT;
  if (/[\p{M}\u200c]/u.test(character)) return MARK;
  return PICTURE.test(character) ? EMOJI : BETWEEN;
});

const kindAt = (text: string, position: number): number =>
  position >= 0 && position < text.length ? kindOf(kinds, text, position) : BETWEEN;
const isWordKind = (kind: number): boolean => kind === LETTER || kind === DIGIT || kind === MARK;

/** Returns the start of the first word from `from` on; the text's length when there is none. */
export function wordStart(text: string, from: number): number {
  let position = from;
  while (position < text.length && kindOf(kinds, text, position) === BETWEEN)
    position += widthAt(text, position);
  return position;
}

const APOSTROPHE = 0x27;
const CURLY_APOSTROPHE = 0x2019;

/**
 * Returns the end of a word: a run of letters, digits and marks, with the letters that follow an apostrophe; or one emoji
 * or flag.
 */
export function wordEnd(text: string, start: number): number {
  if (kindOf(kinds, text, start) === EMOJI) return emojiEnd(text, start);
  let end = start;
  while (end < text.length && isWordKind(kindOf(kinds, text, end))) end += widthAt(text, end);
  const unit = text.charCodeAt(end);
  if (unit !== APOSTROPHE && unit !== CURLY_APOSTROPHE) return end;
  let ending = end + 1;
  while (ending < text.length && kindOf(kinds, text, ending) === LETTER) ending += widthAt(text, ending);
  return ending > end + 1 ? ending : end;
}

const isRegional = (text: string, at: number): boolean => {
  const point = text.codePointAt(at);
  return point !== undefined && point >= 0x1f1e6 && point <= 0x1f1ff;
};

function emojiEnd(text: string, start: number): number {
  const end = start + widthAt(text, start);
  return isRegional(text, start) && isRegional(text, end) ? end + 2 : end;
}

/** A longer row of joined words is no name or number. */
const MAX_COMPOUND = 40;
const NUMBER_SIGN = 0x23;
const PLUS = 0x2b;
const BLANK = 0x20;

/**
 * Returns the end of the words that are joined to the word from `start` to `end`, with the signs of `C++` and `C#`. It is
 * `end` for most words.
 */
export function compoundEnd(text: string, start: number, end: number): number {
  // Nearly all words end here, so that this is quick.
  if (text.charCodeAt(end) === BLANK) return end;
  let last = end;
  while (isJoined(text, last)) {
    last = wordEnd(text, last + 1);
    if (last - start > MAX_COMPOUND) return end;
  }
  const unit = text.charCodeAt(last);
  if (unit === PLUS && text.charCodeAt(last + 1) === PLUS) return last + 2;
  const isShort = last - start <= 2 && kindAt(text, start) === LETTER;
  return unit === NUMBER_SIGN && isShort && !isWordKind(kindAt(text, last + 1)) ? last + 1 : last;
}

/** Signs that join words, and signs that join only digits. */
const JOINS_WORDS = new Set(Array.from('-‐_.&', (sign) => sign.charCodeAt(0)));
const JOINS_DIGITS = new Set(Array.from(":/,'", (sign) => sign.charCodeAt(0)));

function isJoined(text: string, end: number): boolean {
  const sign = text.charCodeAt(end);
  if (text.charCodeAt(end + 1) === BLANK) return false;
  if (JOINS_WORDS.has(sign)) {
    const next = kindAt(text, end + 1);
    return next === LETTER || next === DIGIT;
  }
  return JOINS_DIGITS.has(sign) && kindAt(text, end - 1) === DIGIT && kindAt(text, end + 1) === DIGIT;
}

const FULL_STOP = 0x2e;
/** After these a full stop begins a name (`.NET`). */
const OPENING = /[\s("'`[{*|]/u;

/** Tells whether a full stop before a word belongs to it, as in `.NET` and `.gitignore`. */
export function isDotted(text: string, start: number): boolean {
  if (text.charCodeAt(start - 1) !== FULL_STOP || kindAt(text, start) !== LETTER) return false;
  return start === 1 || OPENING.test(text.charAt(start - 2));
}

const PARAGRAPH = '§';

/** Tells whether a number is the number of a paragraph: `§ 12`, `§12`. */
export function isParagraph(text: string, start: number): boolean {
  if (kindAt(text, start) !== DIGIT) return false;
  const before = text.charAt(start - 1);
  return before === PARAGRAPH || (before === ' ' && text.charAt(start - 2) === PARAGRAPH);
}

/**
 * Tells whether a word in capitals stands among words that are not (`the IT department`, `vitamin A`), or alone. A single
 * letter at the beginning of a sentence says nothing.
 */
export function standsOut(text: string, start: number, end: number): boolean {
  if (start === 0 && end === text.length) return end > 1;
  const isAfter = text.charAt(start - 1) === ' ' && SMALL.test(text.charAt(start - 2));
  if (isAfter || end - start === 1) return isAfter;
  return text.charAt(end) === ' ' && (SMALL.test(text.charAt(end + 1)) || SMALL.test(text.charAt(end + 2)));
}

const SMALL = /\p{Ll}/u;
