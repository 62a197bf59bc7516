import iconv from 'iconv-lite';

const PROLOG_BYTES = 256;
const MARKS: readonly (readonly [readonly number[], string])[] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x3c, 0x00, 0x3f], 'utf-16le'],
  [[0x00, 0x3c, 0x00], 'utf-16be'],
];

/** Decodes XML that comes in pieces, by its byte order mark, else as its declaration says, else as UTF-8. */
export function* decodeXml(pieces: Iterable<Uint8Array>): Iterable<string> {
  let decoder: ReturnType<typeof iconv.getDecoder> | undefined;
  for (const piece of pieces) {
    decoder ??= iconv.getDecoder(encodingOf(piece));
    yield decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  }
  yield decoder?.end() ?? '';
}

/** @param start the first bytes of the file, with its declaration */
function encodingOf(start: Uint8Array): string {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, index) => start[index] === byte));
  if (mark) return mark[1];
  const prolog = Buffer.from(start.subarray(0, PROLOG_BYTES)).toString('latin1');
  const declared = /^[^<]{0,3}<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)/.exec(prolog)?.[1];
  const isUsable =
    declared !== undefined &&
    iconv.encodingExists(declared) &&
    !/^(?:utf|ucs|us-ascii|ascii)/i.test(declared);
  return isUsable ? declared : 'utf-8';
}
