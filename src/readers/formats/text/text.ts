import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';

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

/** Yields the lines of a text, each with its end, so that all of them joined are the text. */
export function* splitLines(text: string): Iterable<string> {
  const isMacintosh = !text.includes('\n');
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf(isMacintosh ? '\r' : '\n', start);
    const next = end === -1 ? text.length : end + 1;
    yield text.slice(start, next);
    start = next;
  }
}
