import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { splitLines } from './split-lines.js';

/** A paragraph of more lines is cut, so that its parts have places. */
const MAX_LINES = 50;

/** Reads plain text unchanged. Each paragraph knows the number of its first line. */
export function* parseText(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  receipt.setParser('text', '1');
  let lines: string[] = [];
  let first = 1;
  let number = 0;
  let isBlankBefore = false;
  for (const line of splitLines(decodeText(bytes, { receipt }))) {
    number += 1;
    const isBlank = line.trim() === '';
    if ((isBlankBefore && !isBlank) || lines.length >= MAX_LINES) {
      yield { text: lines.join(''), place: { line: first } };
      lines = [];
      first = number;
    }
    lines.push(line);
    isBlankBefore = isBlank;
  }
  if (lines.length > 0) yield { text: lines.join(''), place: { line: first } };
}
