import { TextDecoder } from 'node:util';

/** Decodes the bytes of an XML part: as UTF-16 if a byte order mark says so, as the declared encoding, or as UTF-8. */
export function* decodePieces(pieces: Iterable<Uint8Array>): Iterable<string> {
  let decoder: TextDecoder | undefined;
  for (const piece of pieces) {
    decoder ??= decoderFor(piece);
    yield decoder.decode(piece, { stream: true });
  }
  if (decoder) yield decoder.decode();
}

function decoderFor(start: Uint8Array): TextDecoder {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le');
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be');
  const head = Buffer.from(start.subarray(0, 200)).toString('latin1');
  const declared = /^(?:\xef\xbb\xbf)?<\?xml\s[^>]*encoding=["']([\w.:-]{1,40})["']/.exec(head)?.[1];
  // A text that can be read at all is not of two bytes, whatever it declares.
  if (declared === undefined || /^(?:utf|ucs)/i.test(declared)) return new TextDecoder('utf-8');
  try {
    return new TextDecoder(declared);
  } catch {
    return new TextDecoder('utf-8');
  }
}
