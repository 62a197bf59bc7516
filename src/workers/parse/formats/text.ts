import type { Block } from '../extraction/block.js';
import { decodeText } from './decode-text.js';

/** Reads plain text and Markdown unchanged. */
export function* parseText(bytes: Uint8Array): Iterable<Block> {
  yield { text: decodeText(bytes) };
}
