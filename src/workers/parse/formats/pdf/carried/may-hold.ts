import { inflatedStreams, isEncrypted } from '../judging/streams.js';

/** Tells whether a file may have objects with one of these names, such as `/FreeText`. */
export function mayHold(bytes: Uint8Array, names: readonly string[]): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (names.some((name) => file.includes(name))) return true;
  // Objects of an encrypted file cannot be looked through before it is opened.
  if (isEncrypted(bytes) && file.includes('/ObjStm')) return true;
  for (const objects of inflatedStreams(bytes, 'objects'))
    if (objects === 'too large' || names.some((name) => objects.includes(name))) return true;
  return false;
}

/** Names of annotations with words of people, and of files that a document carries. */
const CARRIED = (
  '/Subtype/Text /Subtype@/Text /Highlight /Underline /Squiggly /StrikeOut /Caret /Stamp /Ink /Square /Circle /Polygon ' +
  '/PolyLine /FileAttachment'
)
  .split(' ')
  .map((name) => name.replace('@', ' '));

/** Tells whether a file may have notes on its pages, or files that hang on them. */
export const mayHoldNotes = (bytes: Uint8Array): boolean => mayHold(bytes, CARRIED);

export const mayHoldFiles = (bytes: Uint8Array): boolean =>
  mayHold(bytes, ['/EmbeddedFile', '/FileAttachment']);
