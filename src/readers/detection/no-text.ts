import { at, addTo } from '../../shared/at.js';
import { countMatches } from '../blocks/matches.js';
import { isUtf8 } from 'node:buffer';
import { isControl, isForTerminals } from '../encoding/control-bytes.js';

/** The beginning tells more than the rest: there are the headers of files that are mostly pixels or sound. */
const HEADER = { bytes: 1_024, zeros: 8 };
/** Lines from this length, in bytes, that mostly repeat are pixels. */
const LONG_LINE = 1_024;
const WIDE_SAMPLE = 8_192;
const MIN_WIDE = 4;
/** Short texts may have this many zeros by chance. */
const FEW_ZEROS = 2;
const MAX_FOR_TERMINALS = 0.4;
/** No sign of a text is met more often than in this share of it, blanks neither. */
const MAX_SHARE = 1 / 3;
const MOSTLY = 0.98;
/** Characters that no text in UTF-16 has: controls, halves of characters, and numbers without a character. */
const NO_SIGN = /(?![\t-\r\u001b])[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/gu;
/** Signs that texts are made of. Of two bytes of any value, every other pair is none of them. */
const SIGN =
  /[\t-\r -~\u00a0-\u024f\u0370-\u06ff\u0900-\u0fff\u10a0-\u10ff\u1e00-\u206f\u20a0-\u20bf\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffee]/g;

/**
 * Tells whether bytes are text in no encoding. Such bytes have zeros without a pattern, many control characters, or, where
 * they are no Unicode, the header of a binary file or the same bytes again and again. Zeros at the end do not count:
 * programs fill files with them.
 * @param head the first bytes of the file; a character may be cut off at its end
 */
export function isBinary(head: Uint8Array): boolean {
  const bytes = withoutPadding(head);
  if (bytes.length === 0) return head.length > 2;
  const signs = countSigns(bytes);
  const order = wideOrder(bytes, signs);
  if (order !== undefined) return !isLikelyWide(bytes, order);
  if (isUtf8(wholeCharacters(bytes))) return hasTooMany(signs, bytes) && !isMadeOfSigns(bytes);
  if (isMadeOfSigns(bytes)) return false;
  const header = countSigns(bytes.subarray(0, HEADER.bytes));
  return (
    hasTooMany({ ...signs, controls: signs.controls + signs.deletes }, bytes) ||
    zerosOf(header) > HEADER.zeros ||
    header.controls > HEADER.bytes / 50 ||
    isPixels(bytes)
  );
}

function withoutPadding(head: Uint8Array): Buffer {
  let end = head.length;
  while (end > 0 && head[end - 1] === 0) end -= 1;
  return Buffer.from(head.buffer, head.byteOffset, end);
}

/** Without a character of several bytes that is cut off at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1)
    if (at(bytes, bytes.length - back) >= 0xc0) return bytes.subarray(0, bytes.length - back);
  return bytes;
}

interface Signs {
  /** The number of zeros at each of four places. */
  readonly zerosAt: readonly number[];
  readonly controls: number;
  readonly deletes: number;
  /** Signs for terminals. A manual page has one in three bytes at most: a letter, a step back, and the letter again. */
  readonly forTerminals: number;
}

function countSigns(bytes: Uint8Array): Signs {
  const zerosAt = [0, 0, 0, 0];
  let controls = 0;
  let deletes = 0;
  let forTerminals = 0;
  bytes.forEach((byte, index) => {
    if (byte === 0) zerosAt[index % 4] = at(zerosAt, index % 4) + 1;
    else if (byte === 0x7f) deletes += 1;
    else if (isControl(byte)) controls += 1;
    else if (isForTerminals(byte)) forTerminals += 1;
  });
  return { zerosAt, controls, deletes, forTerminals };
}

const zerosOf = ({ zerosAt }: Signs): number => zerosAt.reduce((sum, count) => sum + count, 0);

/** One or two stray zeros in a text are tolerated. */
const hasTooMany = (signs: Signs, { length }: Uint8Array): boolean =>
  zerosOf(signs) > Math.max(FEW_ZEROS, length / 1000) ||
  signs.controls > Math.max(1, length / 50) ||
  signs.forTerminals > Math.max(1, length * MAX_FOR_TERMINALS);

/** An encoding of two or four bytes a character, whose last or first byte comes first. */
interface Wide {
  readonly width: 2 | 4;
  readonly isLittle: boolean;
}

/** The encoding of more than a byte a character that a mark or the places of zeros indicate. */
function wideOrder(bytes: Buffer, signs: Signs): Wide | undefined {
  const mark = bytes.toString('latin1', 0, 4);
  if (mark.startsWith('\xff\xfe\0\0') || mark === '\0\0\xfe\xff')
    return { width: 4, isLittle: mark !== '\0\0\xfe\xff' };
  if (/^(?:\xff\xfe|\xfe\xff)/.test(mark)) return { width: 2, isLittle: mark.startsWith('\xff') };
  const zeros = zerosOf(signs);
  const [first = 0, second = 0, third = 0, fourth = 0] = signs.zerosAt;
  const isQuad =
    first === 0 ? third * 4 > bytes.length * 0.79 : fourth === 0 && second * 4 > bytes.length * 0.79;
  if (isQuad && zeros >= bytes.length * 0.4) return { width: 4, isLittle: first === 0 };
  const [even, odd] = [first + third, second + fourth];
  if (zeros <= FEW_ZEROS && zeros * 3 <= bytes.length) return undefined;
  if (zeros <= bytes.length / 16 || Math.min(even, odd) > zeros / 50) return undefined;
  return { width: 2, isLittle: odd > even };
}

/** Returns the first characters. A number outside of Unicode becomes one that has no character either. */
function wideText(bytes: Buffer, { width, isLittle }: Wide): string {
  const length = Math.min(WIDE_SAMPLE, bytes.length);
  let text = '';
  for (let index = 0; index + width <= length; index += width) {
    const unit = isLittle ? bytes.readUIntLE(index, width) : bytes.readUIntBE(index, width);
    text += unit > 0x10ffff ? '\uffff' : String.fromCodePoint(unit);
  }
  return text.replace(/^\ufeff|[\ud800-\udbff]$/g, '');
}

function isLikelyWide(bytes: Buffer, wide: Wide): boolean {
  const text = wideText(bytes, wide);
  return countMatches(text, NO_SIGN) <= Math.max(1, text.length / 20);
}

/**
 * Tells whether bytes without zeros are UTF-16 all the same, such as East Asian text, whose bytes are often the numbers of
 * controls. Pixels may be signs as well, but most of them the same.
 */
const isMadeOfSigns = (bytes: Buffer): boolean =>
  [true, false].some((isLittle) => {
    const text = wideText(bytes, { width: 2, isLittle });
    const signs = countMatches(text, SIGN);
    return text.length >= MIN_WIDE && signs >= text.length * MOSTLY && isVaried(text);
  });

function isVaried(text: string): boolean {
  const counts = new Map<string, number>();
  for (const sign of text) addTo(counts, sign);
  return Math.max(...counts.values()) <= Math.max(MIN_WIDE, text.length * MAX_SHARE);
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;

/**
 * Tells whether a long line is mostly bytes above ASCII that repeat the pixel before, of one, three or four bytes. A text
 * may be one letter again and again, but white pixels are no text.
 */
function isPixels(bytes: Buffer): boolean {
  if (bytes[0] !== 0xff && bytes.every((byte) => byte === bytes[0])) return false;
  let start = 0;
  let same = 0;
  for (let index = 0; index <= bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === undefined || isLineEnd(byte)) {
      const length = index - start;
      if (length >= LONG_LINE && same > length / 2) return true;
      start = index + 1;
      same = 0;
    } else if (byte > 0x7f && [1, 3, 4].some((back) => bytes[index - back] === byte)) same += 1;
  }
  return false;
}
