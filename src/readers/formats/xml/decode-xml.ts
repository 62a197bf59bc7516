import { createStreamDecoder } from '../../encoding/decode-as.js';
import { encodingOf } from '../../encoding/labels.js';

const PROLOG_BYTES = 256;
const MARKS: readonly (readonly [readonly number[], string])[] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x3c, 0x00, 0x3f], 'utf-16le'],
  [[0x00, 0x3c, 0x00], 'utf-16be'],
];

/** Decodes XML that comes in pieces, by its byte order mark, else as its declaration says, else as UTF-8. */
export function* decodeXml(pieces: Iterable<Uint8Array>): Iterable<string> {
  let decoder: ReturnType<typeof createStreamDecoder> | undefined;
  for (const piece of pieces) {
    decoder ??= createStreamDecoder(encodingOfXml(piece));
    yield decoder.write(piece);
  }
  if (decoder) yield decoder.end();
}

/** @param start the first bytes of the file, with its declaration */
function encodingOfXml(start: Uint8Array): string {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, index) => start[index] === byte));
  if (mark) return mark[1];
  const prolog = Buffer.from(start.subarray(0, PROLOG_BYTES)).toString('latin1');
  const declared = /^[^<]{0,3}<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)/.exec(prolog)?.[1];
  const encoding = declared === undefined ? undefined : encodingOf(declared);
  // A declaration that can be read byte by byte is in no encoding of two bytes.
  return encoding === undefined || /^utf-(?:16|32)/.test(encoding) ? 'utf-8' : encoding;
}
