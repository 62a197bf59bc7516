import { isUtf8 } from 'node:buffer';
import { decodeText } from '../decode-text.js';

const HEAD_BYTES = 65_536;

/**
 * Mail is ASCII with parts that say their own encoding. A file that some program has saved as UTF-16, or whose letters are
 * of an encoding that nothing in it names, is written anew in UTF-8.
 */
export function toReadableMail(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isWide(buffer)) {
    const text = decodeText(buffer).replace(/charset\s*=\s*"?utf-?16(?:le|be)?\b"?/gi, 'charset=utf-8');
    return Buffer.from(text);
  }
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return buffer.subarray(3);
  if (isUtf8(buffer) || namesCharset(buffer)) return buffer;
  return Buffer.from(decodeText(buffer));
}

/** Whether each letter takes two bytes: there is a mark, or every other one of the first bytes is zero. */
function isWide(buffer: Buffer): boolean {
  const mark = buffer.length >= 2 ? buffer.readUInt16BE(0) : 0;
  if (mark === 0xfffe || mark === 0xfeff) return true;
  const isZero = (index: number): boolean => buffer[index] === 0;
  return (isZero(0) && isZero(2) && isZero(4)) || (isZero(1) && isZero(3) && isZero(5));
}

const namesCharset = (buffer: Buffer): boolean =>
  buffer.includes('charset') || /charset/i.test(buffer.subarray(0, HEAD_BYTES).toString('latin1'));
