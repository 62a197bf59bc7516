import { setImmediate as nextTurn } from 'node:timers/promises';

export type CountTokens = (text: string) => number;

/** No token is shorter than a byte, so most texts need no counting. */
export function surelyFits(text: string, maximum: number): boolean {
  return text.length <= maximum && Buffer.byteLength(text) <= maximum;
}

/**
 * The longest start of `text` of at most `maximum` tokens, or up to 1/64 shorter; never ends within a character.
 * Guesses by proportion first, since counting is dear, and halves when a guess does not help.
 */
export function cutToTokens(text: string, maximum: number, countTokens: CountTokens): string {
  if (maximum <= 0) return '';
  if (surelyFits(text, maximum)) return text;
  const total = countTokens(text);
  if (total <= maximum) return text;
  const enough = maximum - Math.floor(maximum / 64);
  let low = 0;
  let high = text.length;
  let end = Math.floor((text.length * maximum) / total);
  while (high - low > 1) {
    end = Math.min(high - 1, Math.max(low + 1, end));
    const count = countTokens(text.slice(0, wholeCharacters(text, end)));
    if (count > maximum) high = end;
    else low = end;
    if (enough < maximum && count >= enough && count <= maximum) break;
    end = Math.floor((low + high) / 2);
  }
  return text.slice(0, wholeCharacters(text, low));
}

/** The nearest border of characters at or before `end`: not within a surrogate pair, nor before marks and joiners. */
function wholeCharacters(text: string, end: number): number {
  let border = end;
  while (border > 0 && border < text.length && !isBorder(text, border)) border -= 1;
  return border;
}

function isBorder(text: string, index: number): boolean {
  const before = text.charAt(index - 1);
  const after = text.codePointAt(index) ?? 0;
  if (/[\ud800-\udbff]/.test(before) && after >= 0xdc00 && after <= 0xdfff) return false;
  return before !== '\u200d' && !/^[\p{M}\p{Emoji_Modifier}\u200d]/u.test(String.fromCodePoint(after));
}

const SLICE_LENGTH = 32_768;

/** Counts without holding up the process: a slice at a time, cut at blanks, so that the sum is that of the whole. */
export async function countLongText(text: string, countTokens: CountTokens): Promise<number> {
  let count = 0;
  for (let start = 0; start < text.length;) {
    if (start > 0) await nextTurn();
    const end = sliceEnd(text, start);
    count += countTokens(text.slice(start, end));
    start = end;
  }
  return count;
}

function sliceEnd(text: string, start: number): number {
  const limit = start + SLICE_LENGTH;
  if (limit >= text.length) return text.length;
  const blank = text.lastIndexOf(' ', limit);
  return blank > start ? blank : wholeCharacters(text, limit);
}
