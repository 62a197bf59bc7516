import { inflateSync } from 'node:zlib';

/** Most bytes that are inflated of one file, and of one of its streams. */
const MAX_INFLATED = 64 * 1024 * 1024;
const MAX_STREAM_BYTES = 8 * 1024 * 1024;
/** The greatest ratio of inflated to deflated bytes of a stream (zlib's technical details). */
const MAX_YIELD = 1_032;

export type StreamKind = 'content' | 'objects';

/** Tells whether a file says that it is encrypted, so that nothing can be looked for in it before it is opened. */
export function isEncrypted({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes('/Encrypt');
}

/** Reasons why a stream is not inflated. Programs show the beginning of one that breaks off, up to its first error. */
type Unread = 'too large' | 'damaged' | 'breaks off';

/** A stream of a file. */
export interface FoundStream {
  readonly content: Buffer | Unread;
  /** The number of its object; undefined where that cannot be told. */
  readonly object: number | undefined;
  /** The end of its dictionary. */
  readonly entries: string;
}

/** Yields the content of the streams of a file. */
export function* inflatedStreams(bytes: Uint8Array, kind: StreamKind): Iterable<Buffer | 'too large'> {
  for (const { content } of streamsOf(bytes, kind))
    if (content !== 'damaged' && content !== 'breaks off') yield content;
}

/**
 * Yields the streams of a file that may hold operators of pages (`content`), or its compressed objects (`objects`),
 * inflated, and `too large` for streams that exceed the bounds. None of an encrypted file.
 */
export function* streamsOf(bytes: Uint8Array, kind: StreamKind): Iterable<FoundStream> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isEncrypted(bytes)) return;
  let inflated = 0;
  for (let at = file.indexOf('stream'); at >= 0;) {
    if (inflated >= MAX_INFLATED) {
      yield { content: 'too large', object: undefined, entries: '' };
      return;
    }
    const start = at + 6 + (file[at + 6] === 0x0d ? 2 : 1);
    const end = file.indexOf('endstream', start);
    if (end < 0) return;
    const header = file.toString('latin1', Math.max(0, at - 300), at);
    const opening = header.lastIndexOf('obj');
    const entries = header.slice(opening + 3);
    if (kindOf(entries) === kind) {
      const content = contentOf(file.subarray(start, end), entries);
      // A stream that fails, for instance because it is too large, was inflated nevertheless.
      inflated +=
        typeof content === 'object' ? content.length : Math.min(MAX_STREAM_BYTES, MAX_YIELD * (end - start));
      const object = /(?:^|\D)(\d{1,10})\s+\d{1,5}\s+$/.exec(header.slice(0, Math.max(0, opening)))?.[1];
      yield { content, object: object === undefined ? undefined : Number(object), entries };
    }
    at = file.indexOf('stream', end + 9);
  }
}

function kindOf(entries: string): StreamKind | undefined {
  if (/\/ObjStm\b/.test(entries)) return 'objects';
  return /\/(?:Image|FontFile|Length1|XRef)\b/.test(entries) ? undefined : 'content';
}

function contentOf(stream: Buffer, entries: string): Buffer | Unread {
  const bytes = /\/(?:ASCII85Decode|A85)\b/.test(entries) ? fromAscii85(stream) : stream;
  if (!/\/(?:FlateDecode|Fl)\b/.test(entries)) return bytes.subarray(0, MAX_STREAM_BYTES);
  try {
    return inflateSync(bytes, { maxOutputLength: MAX_STREAM_BYTES });
  } catch (error) {
    return reasonOf(error);
  }
}

/** Decodes base 85 (ISO 32000-1, 7.4.3), up to a sign that does not belong to it. */
function fromAscii85(stream: Buffer): Buffer {
  const decoded = Buffer.alloc(4 * stream.length + 8);
  let [length, count, value] = [0, 0, 0];
  const write = (bytes: number): void => {
    for (let at = 0; at < bytes; at += 1) decoded[length++] = Math.floor(value / 256 ** (3 - at)) & 0xff;
    [count, value] = [0, 0];
  };
  for (const code of stream) {
    if (code <= 0x20) continue;
    if (code === 0x7a && count === 0) write(4);
    else if (code < 0x21 || code > 0x75) break;
    else {
      value = value * 85 + code - 0x21;
      count += 1;
      if (count === 5) write(4);
    }
  }
  if (count > 1) {
    const bytes = count - 1;
    for (; count < 5; count += 1) value = value * 85 + 84;
    write(bytes);
  }
  return decoded.subarray(0, length);
}

/** A header or a checksum that is wrong tells nothing of the data; many files lack the checksum. */
function reasonOf(error: unknown): Unread {
  if (typeof error !== 'object' || error === null || !('code' in error)) return 'damaged';
  if (error.code === 'ERR_BUFFER_TOO_LARGE') return 'too large';
  const isOutside = 'message' in error && String(error.message).startsWith('incorrect ');
  return error.code === 'Z_DATA_ERROR' && !isOutside ? 'breaks off' : 'damaged';
}
