import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';

const SAMPLE_BYTES = 65_536;

/**
 * Decodes text of unknown encoding. The encoding is taken from the byte order mark, else it is UTF-8 if the bytes are
 * valid, else UTF-16 if zeros indicate it, else `declared` (an HTML or HTTP charset) if it is a legacy one, else a guess.
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const encoding =
    markedEncoding(buffer) ??
    utf8OrNothing(buffer) ??
    wideEncoding(buffer) ??
    legacyEncoding(buffer, declared);
  if (encoding === 'utf-8') return new TextDecoder('utf-8').decode(buffer);
  return iconv.decode(buffer, encoding);
}

function markedEncoding(buffer: Buffer): string | undefined {
  if (buffer.length >= 4 && buffer.readUInt32LE(0) === 0xfeff) return 'utf-32le';
  if (buffer.length >= 4 && buffer.readUInt32BE(0) === 0xfeff) return 'utf-32be';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return 'utf-16be';
  return buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 'utf-8' : undefined;
}

/** Returns UTF-8 if the bytes are valid, or nearly so, and contain almost no zeros. */
function utf8OrNothing(buffer: Buffer): 'utf-8' | undefined {
  const head = buffer.subarray(0, SAMPLE_BYTES);
  const zeros = head.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);
  if (zeros > Math.max(2, head.length / 100)) return undefined;
  if (isUtf8(buffer)) return 'utf-8';
  const text = buffer.subarray(0, 1_048_576).toString('utf8');
  let broken = 0;
  let whole = 0;
  for (const match of text.matchAll(/[^\0-\x7f]+/g))
    for (const character of match[0]) {
      if (character === '\ufffd') broken += 1;
      else whole += 1;
    }
  return whole > broken * 10 ? 'utf-8' : undefined;
}

/** Detects UTF-16 without a byte order mark: its zeros (in East Asian text those of blanks) are all at even or all at odd places. */
function wideEncoding(buffer: Buffer): string | undefined {
  const head = buffer.subarray(0, SAMPLE_BYTES);
  let even = 0;
  let odd = 0;
  for (const [index, byte] of head.entries()) {
    if (byte !== 0) continue;
    if (index % 2 === 0) even += 1;
    else odd += 1;
  }
  if (even + odd < head.length / 100) return undefined;
  if (even + odd > head.length * 0.6) return head[0] === 0 ? 'utf-32be' : 'utf-32le';
  return odd >= even ? 'utf-16le' : 'utf-16be';
}

function legacyEncoding(buffer: Buffer, declared: string | undefined): string {
  if (
    declared !== undefined &&
    iconv.encodingExists(declared) &&
    !/^(?:utf|ucs|us-ascii|ascii)/i.test(declared)
  )
    return declared;
  const firstForeign = Math.max(0, buffer.findIndex((byte) => byte > 0x7f) - 256);
  const guesses = analyse(buffer.subarray(firstForeign, firstForeign + SAMPLE_BYTES));
  const guess = guesses.find(
    ({ name }) => !/^UTF|^ASCII|^ISO-2022/i.test(name) && iconv.encodingExists(name),
  );
  // Text that is declared as ISO 8859-1 is windows-1252 in practice.
  if (!guess || guess.name === 'ISO-8859-1' || guess.confidence < 20) return 'windows-1252';
  return guess.name === 'GB18030' ? 'gb18030' : guess.name;
}
