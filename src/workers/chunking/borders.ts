import { endsWithAbbreviation } from '../../shared/text/sentences.js';

/** The worth of a position as a border between two chunks; higher is better. */
export const BORDER = {
  /** The border would split a visible character, or the next chunk would begin with white space. */
  unfit: 0,
  character: 1,
  word: 2,
  clause: 3,
  line: 4,
  sentence: 5,
  paragraph: 6,
} as const;
export type Border = (typeof BORDER)[keyof typeof BORDER];

const MAX_LOOK_BACK = 64;
const WIDE_STOPS: ReadonlyMap<string, Border> = new Map([
  ...Array.from('。！？', (stop) => [stop, BORDER.sentence] as const),
  ...Array.from('，、；：', (stop) => [stop, BORDER.clause] as const),
]);

const JOINS_PREVIOUS = /^(?:\p{M}|\u200d|[\ufe00-\ufe0f]|\p{Emoji_Modifier})/u;
const IS_REGIONAL = /^\p{Regional_Indicator}/u;
const WIDE_SENTENCE_END = /[。！？｡．…][」』”’）)》】]*$/u;
const SENTENCE_END = /[.!?…։؟۔।॥።][\p{Pe}\p{Pf}"'*_]*$/u;
const CLAUSE_END = /[,;:、，；：،؛][\p{Pe}\p{Pf}"']*$/u;
const CONTINUES = /^[\p{Ll}\p{Pe},;:]/u;
const HEADING = /(?:^|\n)#{1,6} [^\n]*$/u;

/** Judges the position between two characters. */
export function borderAt(text: string, position: number): Border {
  return plainBorder(text, position) ?? judgedBorder(text, position);
}

/** Decides the frequent cases by single characters: around ASCII words, and around Han and Hangul. */
function plainBorder(text: string, position: number): Border | undefined {
  const next = text.charCodeAt(position);
  const last = text.charCodeAt(position - 1);
  if (isWideLetter(next)) {
    if (isWideLetter(last)) return BORDER.character;
    return WIDE_STOPS.get(text.charAt(position - 1));
  }
  if (next >= 0x80) return undefined;
  if (next === 0x20 || (next >= 0x09 && next <= 0x0d)) return BORDER.unfit;
  if (last > 0x20 && last < 0x7f) return BORDER.character;
  const solid = text.charCodeAt(position - 2);
  return last === 0x20 && (isAlphanumeric(solid) || isWideLetter(solid)) ? BORDER.word : undefined;
}

function isWideLetter(unit: number): boolean {
  return unit >= 0x4e00 && unit < 0xd7a4;
}

function isAlphanumeric(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
}

function judgedBorder(text: string, position: number): Border {
  const before = text.slice(Math.max(0, position - MAX_LOOK_BACK), position);
  const after = text.slice(position, position + 4);
  if (/^\s/u.test(after) || tearsCharacter(text, position, after)) return BORDER.unfit;
  const solid = before.trimEnd();
  const gap = before.slice(solid.length);
  if (gap.length === 0) {
    if (WIDE_SENTENCE_END.test(before)) return BORDER.sentence;
    return /[、，；：]$/u.test(before) ? BORDER.clause : BORDER.character;
  }
  const lines = gap.split(/\r\n|[\n\r\u2028\u2029\f]/u).length - 1;
  // A heading belongs to the text behind it.
  if (lines > 0 && HEADING.test(solid)) return BORDER.word;
  if (lines > 1) return BORDER.paragraph;
  if (WIDE_SENTENCE_END.test(solid)) return BORDER.sentence;
  const ends = SENTENCE_END.test(solid) && !CONTINUES.test(after) && !endsWithAbbreviation(solid);
  if (ends) return BORDER.sentence;
  if (lines > 0) return BORDER.line;
  return CLAUSE_END.test(solid) ? BORDER.clause : BORDER.word;
}

function tearsCharacter(text: string, position: number, after: string): boolean {
  if (JOINS_PREVIOUS.test(after)) return true;
  const last = text.charCodeAt(position - 1);
  const next = text.charCodeAt(position);
  if (last === 0x200d || (last === 0x0d && next === 0x0a)) return true;
  if (last >= 0xd800 && last < 0xdc00 && next >= 0xdc00 && next < 0xe000) return true;
  return IS_REGIONAL.test(after) && tearsFlag(text, position);
}

/** A flag consists of two regional indicators, so a border is possible only after an even number of them. */
function tearsFlag(text: string, position: number): boolean {
  let before = 0;
  while (before < MAX_LOOK_BACK && IS_REGIONAL.test(text.slice(position - 2 * (before + 1), position)))
    before += 1;
  return before % 2 === 1;
}
