import { countMatches } from '../../../blocks/matches.js';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';

const EAST_ASIAN_ENCODING = /^(?:GB18030|Big5|EUC-JP|EUC-KR|Shift_JIS)$/;

/** Tells whether nearly all letters of a page are pairs of upper Latin-1 characters: East Asian text that was read byte by byte. */
export function isMisread(text: string): boolean {
  const pairs = countMatches(text, /(?:[\u0081-\u00fe\u03bc][\u0040-\u007e\u0080-\u00ff\u03bc-])/g);
  const letters = countMatches(text, /\p{L}|[\u0080-\u00ff]/gu);
  return pairs > 4 && pairs * 2 > letters * 0.7 && !/[\u0100-\u03bb\u03bd-\u{10ffff}]{3}/u.test(text);
}

/**
 * Restores the text of fonts without an encoding from a page's characters before normalization. Each character is a byte.
 * Undefined when the bytes are valid in no East Asian encoding.
 */
export function repairMisread(text: string): string | undefined {
  // Typographic characters of windows-1252 also stand for bytes.
  const bytes = iconv.encode(withHyphenBytes(text), 'windows-1252');
  const guess = analyse(bytes).find(({ name }) => EAST_ASIAN_ENCODING.test(name));
  if (!guess) return undefined;
  const decoded = iconv.decode(bytes, guess.name);
  const wide = countMatches(
    decoded,
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu,
  );
  const broken = countMatches(decoded, /\ufffd/g);
  return wide > 4 && broken * 10 < wide ? decoded : undefined;
}

/** pdf.js shows byte 0xAD as a hyphen. It is restored when it is the second of a pair. */
function withHyphenBytes(text: string): string {
  return text.replace(/[\u0081-\u00fe](?:[\u0040-\u007e\u0080-\u00ff]|-)/g, (pair) =>
    pair.replace('-', '\u00ad'),
  );
}
