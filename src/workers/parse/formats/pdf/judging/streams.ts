import { inflateSync } from 'node:zlib';

/** Most bytes that are inflated of one file, and of one of its streams. */
const MOST_INFLATED = 64 * 1024 * 1024;
const LARGEST_STREAM = 8 * 1024 * 1024;

export type StreamKind = 'content' | 'objects';

/**
 * The streams of a file that may hold operators of pages (`content`), or its compressed objects (`objects`), inflated, within
 * bounds. None of an encrypted file.
 */
export function* inflatedStreams(bytes: Uint8Array, kind: StreamKind): Iterable<Buffer> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.includes('/Encrypt')) return;
  let inflated = 0;
  for (let at = file.indexOf('stream'); at >= 0 && inflated < MOST_INFLATED;) {
    const start = at + 6 + (file[at + 6] === 0x0d ? 2 : 1);
    const end = file.indexOf('endstream', start);
    if (end < 0) return;
    const header = file.toString('latin1', Math.max(0, at - 300), at);
    const entries = header.slice(header.lastIndexOf('obj') + 3);
    if (kindOf(entries) === kind) {
      const content = contentOf(file.subarray(start, end), entries);
      inflated += content.length;
      yield content;
    }
    at = file.indexOf('stream', end + 9);
  }
}

function kindOf(entries: string): StreamKind | undefined {
  if (/\/ObjStm\b/.test(entries)) return 'objects';
  return /\/(?:Image|FontFile|Length1|XRef)\b/.test(entries) ? undefined : 'content';
}

function contentOf(stream: Buffer, entries: string): Buffer {
  if (!entries.includes('/FlateDecode')) return stream.subarray(0, LARGEST_STREAM);
  try {
    return inflateSync(stream, { maxOutputLength: LARGEST_STREAM });
  } catch {
    return Buffer.alloc(0);
  }
}
