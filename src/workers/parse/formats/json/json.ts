import type { Block } from '../../extraction/block.js';
import { decodeText } from '../encoding/decode-text.js';
import type { ParseContext } from '../parser.js';
import { jsonTokens } from './tokens.js';
import { createValueLines } from './value-lines.js';

/** Lines of one block, which says where it stands: chunks know the lines of the file that they were made of as exactly. */
const LINES_AT_ONCE = 8;

/**
 * Parses JSON, including JSON Lines. Each value gets a line with its key, in the order of the file. It reads tokens rather
 * than a tree, so that depth costs nothing, numbers keep their form, and a broken file is read up to the error.
 */
export function* parseJson(bytes: Uint8Array, { receipt }: ParseContext): Iterable<Block> {
  const text = decodeText(bytes, { receipt }).replace(/^\ufeff/, '');
  const written = createValueLines();
  const lineAt = createLineCounter(text);
  let first = 1;
  for (const token of jsonTokens(text)) {
    if (token.kind === 'unclosed string')
      receipt.addGap('unreadable', 'A string is not closed: what follows its beginning is not read.');
    else if (token.kind === 'mark') written.mark(token.text);
    else written.value(token.text);
    if (written.lines.length >= LINES_AT_ONCE || written.lines.at(-1) === '') {
      const last = lineAt(token.start);
      yield { text: `${written.lines.splice(0).join('\n')}\n`, place: { lines: { first, last } } };
      first = lineAt(token.end);
    }
  }
  written.finish();
  yield { text: written.lines.join('\n'), place: { lines: { first, last: lineAt(text.trimEnd().length) } } };
}

/** Tells the number of the line of a position. @param position rises from call to call */
function createLineCounter(text: string): (position: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (position) => {
    while (next !== -1 && next < position) {
      line += 1;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
}
