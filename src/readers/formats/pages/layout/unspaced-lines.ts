import { countMatches } from '../../../blocks/matches.js';
import { median, type Piece } from './piece.js';

/** Characters of Chinese and Japanese, between which a line may end anywhere. Korean has spaces between its words. */
export const WIDE =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30fc\\u3001-\\u303f\\uff01-\\uff60]';
const ENDS_WIDE = new RegExp(`${WIDE}$`, 'u');
/**
 * The first unit of a line: characters that cannot stand at the end of a line, a character, and characters that cannot
 * stand at the beginning of one (JIS X 4051).
 */
const FIRST_UNIT = new RegExp(
  `^[「『（［｛〈《【〔〖]{0,3}(${WIDE})[」』）］｝〉》】〕〗、。，．・：；？！ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々]{0,3}`,
  'u',
);
/** Dots up to the number of a page in a list of contents. */
const LEADER = /[….．・‥]{2}\s?[\d０-９]{1,5}$/u;
const WIDE_CHARACTER = new RegExp(WIDE, 'gu');
/** The width of letters of other scripts, as a share of the width of a wide character. */
const NARROW = 0.5;
/** Lines may be this much shorter than they could be, in widths of a character. */
const TOLERANCE = 0.3;

type Line = Pick<Piece, 'text' | 'width' | 'size'>;

/** The width of a text, in wide characters. */
export function charactersWide(text: string): number {
  const wide = countMatches(text, WIDE_CHARACTER);
  return wide + NARROW * (text.length - wide);
}

/**
 * Returns the texts of lines one after another. Nothing stands between two characters of Chinese or Japanese where a line
 * ended for want of room.
 * @param separator the separator between other lines
 * @param room the width of the lines at most
 */
export const joinTexts = (lines: readonly Line[], separator: string, room: number): string =>
  joinWithStarts(lines, separator, room).text;

/** The texts of lines one after another, and where each begins, in UTF-16 units. */
export interface JoinedLines {
  readonly text: string;
  readonly starts: readonly number[];
}

function joinWithStarts(lines: readonly Line[], separator: string, room: number): JoinedLines {
  let text = '';
  const starts: number[] = [];
  let last: Line | undefined;
  for (const line of lines) {
    if (last) text += wasBroken(last, line, room) ? '' : separator;
    starts.push(text.length);
    text += line.text;
    last = line;
  }
  return { text, starts };
}

function wasBroken(before: Line, line: Line, room: number): boolean {
  const goesOn = ENDS_WIDE.test(before.text) && !LEADER.test(before.text);
  const unit = goesOn ? FIRST_UNIT.exec(line.text)?.[0] : undefined;
  if (unit === undefined) return false;
  const character = Math.min(line.size, line.width / charactersWide(line.text));
  return before.width + unit.length * character > room - TOLERANCE * character;
}

/** This many lines tell by themselves how wide they can be, where some end at the same place. */
const ENOUGH_LINES = 3;
/** Lines of fewer characters may belong to a list or a poem; two lines of fewer than the second number may be a list. */
const SHORT = 8;
const SHORT_PAIR = 12;

/**
 * Joins the lines of a paragraph. A few lines do not tell by themselves whether they were broken.
 * @param width the width of its column
 */
export function joinParagraph(lines: readonly Piece[], width: number): JoinedLines {
  const widest = lines.reduce((most, line) => Math.max(most, line.width), 0);
  const size = median(lines.map((line) => line.size));
  const full = lines.filter((line) => line.width > widest - 2 * size).length;
  const areTold = lines.length >= ENOUGH_LINES && full >= 2 && widest >= SHORT * size;
  const isLong = widest >= SHORT_PAIR * size;
  return joinWithStarts(lines, '\n', areTold ? widest : isLong ? width : Infinity);
}
