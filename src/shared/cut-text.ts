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
  let guess = Math.floor((text.length * maximum) / total);
  while (high - low > 1) {
    const end = Math.min(high - 1, Math.max(low + 1, guess));
    const count = countTokens(text.slice(0, wholeCharacters(text, end)));
    if (count > maximum) high = end;
    else low = end;
    if (count <= maximum && count >= enough && enough < maximum) break;
    guess = Math.floor((low + high) / 2);
  }
  return text.slice(0, wholeCharacters(text, low));
}

/** The nearest border of characters at or before `end`: not within a surrogate pair, nor before its marks and joiners. */
export function wholeCharacters(text: string, end: number): number {
  let border = Math.max(0, Math.min(end, text.length));
  while (border > 0 && border < text.length && !isBorder(text, border)) border -= 1;
  return border;
}

function isBorder(text: string, index: number): boolean {
  const next = text.codePointAt(index) ?? 0;
  const isLowSurrogate = next >= 0xdc00 && next <= 0xdfff;
  const isHighBefore = /[\ud800-\udbff]/.test(text.charAt(index - 1));
  if (isLowSurrogate && isHighBefore) return false;
  return !/^[\p{M}\u200d]/u.test(String.fromCodePoint(next)) && text.charAt(index - 1) !== '\u200d';
}
