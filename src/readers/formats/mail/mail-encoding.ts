import { isUtf8 } from 'node:buffer';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { decodeText } from '../../encoding/decode-text.js';

const HEAD_BYTES = 65_536;
const LINE_FEED = 0x0a;
const DASH = 0x2d;

/** Mail that some program has saved as UTF-16, anew in UTF-8, and without a byte order mark. */
export function toNarrowMail(bytes: Uint8Array): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isWide(buffer)) {
    const text = decodeText(buffer).replace(/charset\s*=\s*"?utf-?16(?:le|be)?\b"?/gi, 'charset=utf-8');
    return Buffer.from(text);
  }
  return buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? buffer.subarray(3) : buffer;
}

/**
 * Mail is ASCII with parts that say their own encoding. A file in whose letters nothing names an encoding is written anew in
 * UTF-8; so are headers that are in the encoding of the text below them.
 */
export function toReadableMail(bytes: Uint8Array, receipt?: ReceiptWriter): Buffer {
  const buffer = toNarrowMail(bytes);
  if (isUtf8(buffer)) return buffer;
  const charset = namedCharset(buffer);
  return charset === undefined
    ? Buffer.from(decodeText(buffer, { receipt, hasKnownFiles: true }))
    : withHeadersInUtf8(buffer, charset);
}

/** Tells whether each letter takes two bytes: there is a mark, or every other one of the first bytes is zero. */
function isWide(buffer: Buffer): boolean {
  const mark = buffer.length >= 2 ? buffer.readUInt16BE(0) : 0;
  if (mark === 0xfffe || mark === 0xfeff) return true;
  const isZero = (index: number): boolean => buffer[index] === 0;
  return (isZero(0) && isZero(2) && isZero(4)) || (isZero(1) && isZero(3) && isZero(5));
}

/** The first charset that the mail names anywhere, in its headers or in the HTML of its text. */
function namedCharset(buffer: Buffer): string | undefined {
  const head = buffer.toString('latin1', 0, HEAD_BYTES);
  const named = /charset\s*=\s*["']?([^"';\s>]{1,60})/i.exec(head)?.[1];
  return named ?? (buffer.includes('charset') ? '' : undefined);
}

/** The bounds of a line, without its end. */
interface Line {
  readonly start: number;
  readonly end: number;
}

/** Rewrites the headers, of the message and of its parts, that are no UTF-8. They are decoded together. */
function withHeadersInUtf8(buffer: Buffer, charset: string): Buffer {
  const lines = [...brokenHeaderLines(buffer)];
  if (lines.length === 0) return buffer;
  const joined = lines.flatMap(({ start, end }) => [buffer.subarray(start, end), Buffer.from('\n')]);
  const texts = decodeText(Buffer.concat(joined), { declared: charset }).split('\n');
  const pieces: Buffer[] = [];
  let done = 0;
  for (const [index, { start, end }] of lines.entries()) {
    pieces.push(buffer.subarray(done, start), Buffer.from(texts[index] ?? ''));
    done = end;
  }
  return Buffer.concat([...pieces, buffer.subarray(done)]);
}

/** Header lines that are no UTF-8: at the beginning up to an empty line, and behind each boundary that a header of a part follows. */
function* brokenHeaderLines(buffer: Buffer): Iterable<Line> {
  let isHeader = true;
  let isBoundary = false;
  for (let start = 0; start < buffer.length;) {
    const found = buffer.indexOf(LINE_FEED, start);
    const end = found === -1 ? buffer.length : found;
    const isEmpty = end === start || (end === start + 1 && buffer[start] === 0x0d);
    if (isBoundary && !isHeader) isHeader = /^content-/i.test(buffer.toString('latin1', start, start + 8));
    if (isEmpty) isHeader = false;
    else if (isHeader && !isUtf8(buffer.subarray(start, end))) yield { start, end };
    isBoundary = buffer[start] === DASH && buffer[start + 1] === DASH;
    start = end + 1;
  }
}
