import { countMatches } from '../blocks/matches.js';
import { isUtf8 } from 'node:buffer';
import type { ReceiptWriter } from '../receipt/receipt-writer.js';
import { withoutDataUris } from './data-uris.js';
import { withoutUuencoded } from './uuencoded.js';
import { decodeAs } from './decode-as.js';
import { detectEncoding, isLikelier, wideEncoding, type Detection } from './detection/detect-encoding.js';
import { encodingOf } from './labels.js';
import { announcedEncoding, SEVEN_BIT } from './seven-bit.js';

const SAMPLE_BYTES = 65_536;

interface DecodeOptions {
  /** The charset that the file or its carrier declares, in any spelling. It counts where it is possible. */
  readonly declared?: string | undefined;
  /**
   * Notes texts for which two encodings are about as likely and that differ in them, and the data URIs and uuencoded files,
   * which are then left out: the text is for reading.
   */
  readonly receipt?: Pick<ReceiptWriter, 'addGap'> | undefined;
  /** True if the format has a place for files in Base64, so that its reader treats them. */
  readonly hasKnownFiles?: boolean;
}

/**
 * Decodes text of any encoding. The order: the encoding of the byte order mark or of escape sequences; UTF-8 if the bytes
 * are valid; UTF-16 if zeros or the text in it indicate that; the declared encoding if it is a legacy one; the encoding in
 * which the text looks most like a language.
 */
export function decodeText(
  bytes: Uint8Array,
  { declared, receipt, hasKnownFiles }: DecodeOptions = {},
): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { encoding, rival } = chooseEncoding(
    buffer,
    declared === undefined ? undefined : encodingOf(declared),
  );
  if (rival !== undefined)
    receipt?.addGap(
      'guessed',
      `No encoding is named: the text is read as ${encoding}, and ${rival} is as likely.`,
    );
  const text = decodeAs(buffer, encoding);
  if (!receipt) return text;
  const plain = withoutUuencoded(text, ({ name, length }) => {
    receipt.addGap('skipped', `A file that is uuencoded, ${name}, ${sizeOf(length)} long, is not read.`);
  });
  return withoutDataUris(
    plain,
    ({ type, isUri, length }) => {
      const form = isUri ? 'data URI of' : 'file in Base64,';
      receipt.addGap('skipped', `A ${form} ${type}, ${sizeOf(length)} long, is not read.`);
    },
    { hasKnownFiles },
  );
}

const sizeOf = (characters: number): string =>
  characters < 1_024 ? `${String(characters)} characters` : `${String(Math.round(characters / 1_024))} KB`;

function chooseEncoding(buffer: Buffer, declared: string | undefined): Detection {
  const marked = markedEncoding(buffer) ?? announced(buffer, declared);
  if (marked !== undefined) return { encoding: marked };
  const isWide = wideEncoding(buffer, declared);
  if (isWide !== undefined) return { encoding: isWide };
  const isLegacy = declared !== undefined && !declared.startsWith('utf') && !SEVEN_BIT.has(declared);
  if (isUtf8(buffer)) {
    const isMeant = isLegacy && isLikelier(buffer, declared, 'utf-8');
    return { encoding: isMeant ? declared : 'utf-8' };
  }
  if (isNearlyUtf8(buffer)) return { encoding: 'utf-8' };
  return isLegacy && suits(buffer, declared) ? { encoding: declared } : detectEncoding(buffer);
}

function markedEncoding(buffer: Buffer): string | undefined {
  if (buffer.length >= 4 && buffer.readUInt32LE(0) === 0xfeff) return 'utf-32le';
  if (buffer.length >= 4 && buffer.readUInt32BE(0) === 0xfeff) return 'utf-32be';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return 'utf-16be';
  return buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 'utf-8' : undefined;
}

/** Returns an encoding whose bytes are all ASCII: the declared one, or one that escape sequences announce. */
function announced(buffer: Buffer, declared: string | undefined): string | undefined {
  const isDeclared = declared !== undefined && SEVEN_BIT.has(declared);
  if (!isDeclared && !buffer.includes(0x1b)) return undefined;
  if (buffer.some((byte) => byte > 0x7f)) return undefined;
  return isDeclared ? declared : announcedEncoding(buffer);
}

/** Tells whether nearly all bytes above ASCII are valid UTF-8, so that only some are broken. */
function isNearlyUtf8(buffer: Buffer): boolean {
  const text = buffer.subarray(0, 1_048_576).toString('utf8');
  let broken = 0;
  let whole = 0;
  for (const match of text.matchAll(/[^\0-\x7f]+/g))
    for (const character of match[0]) {
      if (character === '\ufffd') broken += 1;
      else whole += 1;
    }
  return whole > broken * 10;
}

/** Tells whether bytes can be in the declared encoding: hardly any byte is outside of its characters. */
function suits(buffer: Buffer, encoding: string): boolean {
  const text = decodeAs(buffer.subarray(0, SAMPLE_BYTES), encoding);
  const broken = countMatches(text, /\ufffd/g);
  const foreign = countMatches(text, /[^\0-\x7f]/g);
  return broken * 10 <= foreign || broken <= 1;
}
