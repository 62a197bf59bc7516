import { decodeText } from './decode-text.js';

/** Plain text and Markdown: as it is. */
export function* parseText(bytes: Uint8Array): Iterable<string> {
  yield decodeText(bytes);
}
