import { setImmediate as nextTurn } from 'node:timers/promises';

export type CountTokens = (text: string) => number;

/** Tells whether a text fits without counting, as most texts do: no token is shorter than a byte. */
function surelyFits(text: string, maximum: number): boolean {
  return text.length <= maximum && Buffer.byteLength(text) <= maximum;
}

/**
 * The largest maximum that is counted exactly from the start. For a larger one, a start is found in one pass that adds up
 * slices, which may be off by a few tokens.
 */
const MAX_EXACT = 1024;
const SLACK = 16;
const CUT_SLICE_LENGTH = 1024;
/** Text up to this length is always counted, in less than two milliseconds. */
const ALWAYS_COUNTED = 4096;

/** Returns the longest start of `text` of at most `maximum` tokens, or nearly so. It never ends within a character. */
export function cutToTokens(text: string, maximum: number, countTokens: CountTokens): string {
  if (surelyFits(text, maximum)) return text;
  if (maximum <= MAX_EXACT) return cutExactly(text, maximum, countTokens);
  let left = maximum - SLACK;
  for (let start = 0; start < text.length;) {
    const end = sliceEnd(text, start, CUT_SLICE_LENGTH);
    const slice = text.slice(start, end);
    const count = countTokens(slice);
    if (count > left) return text.slice(0, start) + cutExactly(slice, left, countTokens);
    left -= count;
    start = end;
  }
  return text;
}

/** Halves the interval between the shortest and the longest possible start, since no token is shorter than a byte. */
function cutExactly(text: string, maximum: number, countTokens: CountTokens): string {
  // A longer start may have fewer tokens (`trin` has two, `tring` has one), which halving would miss at the very end.
  if (text.length <= ALWAYS_COUNTED && countTokens(text) <= maximum) return text;
  let low = 0;
  // One more than the length: no start that is too long has been seen yet.
  let high = text.length + 1;
  let end = Math.min(text.length, maximum * 4);
  while (high - low > 1) {
    if (countTokens(text.slice(0, wholeCharacters(text, end))) > maximum) high = end;
    else low = end;
    end = high > text.length ? Math.min(text.length, low * 2 + 1) : Math.floor((low + high) / 2);
  }
  return text.slice(0, wholeCharacters(text, low));
}

/** Longer clusters are not characters of any language, and would only take time. */
const MAX_CHARACTER_LENGTH = 64;

/** The nearest border of characters at or before `end`: neither within a surrogate pair, nor before marks and joiners. */
export function wholeCharacters(text: string, end: number): number {
  for (let border = end; border > 0 && border > end - MAX_CHARACTER_LENGTH; border -= 1) {
    if (border >= text.length || isBorder(text, border)) return border;
  }
  return end < MAX_CHARACTER_LENGTH ? 0 : isWithinPair(text, end) ? end - 1 : end;
}

function isBorder(text: string, index: number): boolean {
  if (isWithinPair(text, index) || text.charAt(index - 1) === '\u200d') return false;
  const after = text.slice(index, index + 2);
  return !/^[\p{M}\p{Emoji_Modifier}\u200d]/u.test(after);
}

function isWithinPair(text: string, index: number): boolean {
  return /[\ud800-\udbff]/.test(text.charAt(index - 1)) && /[\udc00-\udfff]/.test(text.charAt(index));
}

const SLICE_LENGTH = 16_384;

/** Counts without blocking the process: a slice at a time, cut at blanks, so that the sum is exact for the whole text. */
export async function countLongText(text: string, countTokens: CountTokens): Promise<number> {
  let count = 0;
  for (let start = 0; start < text.length;) {
    if (start > 0) await nextTurn();
    const end = sliceEnd(text, start, SLICE_LENGTH);
    count += countTokens(text.slice(start, end));
    start = end;
  }
  return count;
}

function sliceEnd(text: string, start: number, length: number): number {
  const limit = start + length;
  if (limit >= text.length) return text.length;
  const blank = text.lastIndexOf(' ', limit);
  return blank > start ? blank : wholeCharacters(text, limit);
}
