import { decodeText } from './decode-text.js';

/** Reads plain text and Markdown unchanged. */
export function* parseText(bytes: Uint8Array): Iterable<string> {
  yield decodeText(bytes);
}
