import { inflateSync } from 'node:zlib';

/** Most bytes that are inflated in search of invisible text. */
const MOST_INFLATED = 64 * 1024 * 1024;
const LARGEST_STREAM = 8 * 1024 * 1024;

/** Tells whether a file may switch to invisible text (`3 Tr`), which PDFium leaves out. */
export function mayHoldInvisibleText(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.includes('/Encrypt')) return false;
  let inflated = 0;
  for (let at = file.indexOf('stream'); at >= 0 && inflated < MOST_INFLATED;) {
    const start = at + 6 + (file[at + 6] === 0x0d ? 2 : 1);
    const end = file.indexOf('endstream', start);
    if (end < 0) return false;
    const header = file.toString('latin1', Math.max(0, at - 300), at);
    const entries = header.slice(header.lastIndexOf('obj') + 3);
    if (!/\/(?:Image|FontFile|Length1|XRef|ObjStm)\b/.test(entries)) {
      const content = contentOf(file.subarray(start, end), entries);
      inflated += content.length;
      if (setsInvisible(content)) return true;
    }
    at = file.indexOf('stream', end + 9);
  }
  return false;
}

const setsInvisible = (content: Buffer): boolean => /\b[37]\s{1,4}Tr\b/.test(content.toString('latin1'));

function contentOf(stream: Buffer, entries: string): Buffer {
  if (!entries.includes('/FlateDecode')) return stream.subarray(0, LARGEST_STREAM);
  try {
    return inflateSync(stream, { maxOutputLength: LARGEST_STREAM });
  } catch {
    return Buffer.alloc(0);
  }
}
