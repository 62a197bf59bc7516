import iconv from 'iconv-lite';
import { decodeSevenBit, SEVEN_BIT } from './seven-bit.js';

/**
 * Decodes bytes in an encoding that `encodingOf` or `encodingOfCodePage` names. Bytes that are none of its characters become
 * U+FFFD, and a byte order mark is left out. It is the only place that does: `TextDecoder` of several versions of Node takes
 * windows-1252 for ISO 8859-1.
 */
export function decodeAs(bytes: Uint8Array, encoding: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (SEVEN_BIT.has(encoding)) return decodeSevenBit(buffer, encoding);
  return asMeant(iconv.decode(buffer, encoding), encoding);
}

/** Apple has put the euro sign in the place of the old sign of currencies. Vietnamese has tones of their own in its encoding alone. */
function asMeant(text: string, encoding: string): string {
  if (encoding === VIETNAMESE) return text.normalize('NFC');
  return encoding.startsWith('mac') ? text.replaceAll('¤', '€') : text;
}

const VIETNAMESE = 'windows-1258';

/** Decodes bytes that come in pieces, which may end within a character. */
export function createStreamDecoder(encoding: string): {
  readonly write: (piece: Uint8Array) => string;
  readonly end: () => string;
} {
  if (SEVEN_BIT.has(encoding) || encoding === VIETNAMESE) {
    const pieces: Uint8Array[] = [];
    return {
      write: (piece) => {
        pieces.push(piece.slice());
        return '';
      },
      end: () => decodeAs(Buffer.concat(pieces), encoding),
    };
  }
  const decoder = iconv.getDecoder(encoding);
  return {
    write: (piece) =>
      asMeant(decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)), encoding),
    end: () => asMeant(decoder.end() ?? '', encoding),
  };
}
