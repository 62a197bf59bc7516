import { Inflate } from 'fflate';
import { compressedBytes, type ZipEntry } from './central-directory.js';

/** Bytes that are inflated at once. Deflate makes at most about a thousand times as many of them. */
const STEP = 4_096;
/** Bytes of one piece, so that whoever reads it makes little of it at once. */
const PIECE = 65_536;
const STORED = 0;
const DEFLATED = 8;

/**
 * Inflates a member piece by piece, so that whoever counts the bytes can stop.
 * @throws Error when it is damaged, cut off or compressed in another way
 */
export function* inflateEntry(archive: Uint8Array, entry: ZipEntry): Iterable<Uint8Array> {
  const compressed = compressedBytes(archive, entry);
  if (entry.method === STORED) {
    yield* cut(compressed);
    return;
  }
  if (entry.method !== DEFLATED) throw new RangeError('The member is compressed in an unknown way.');
  const ready: Uint8Array[] = [];
  const inflate = new Inflate((piece) => {
    ready.push(piece);
  });
  let at = 0;
  do {
    const end = Math.min(at + STEP, compressed.length);
    inflate.push(compressed.subarray(at, end), end === compressed.length);
    for (const piece of ready.splice(0)) yield* cut(piece);
    at = end;
  } while (at < compressed.length);
}

function* cut(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
