import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { createHiddenCounter } from '../visibility/hidden-counter.js';
import { createRtfReader } from './read-rtf.js';
import { rtfTokens } from './tokens.js';

const TOKENS_AT_ONCE = 4_096;

/** Reads RTF 1.9.1: paragraphs, headings, lists, tables and notes. A file that is cut off is read to its end. */
export function* parseRtf(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  receipt.setParser('rtf', '1');
  if (!Buffer.from(bytes.subarray(0, 64)).toString('latin1').trimStart().startsWith('{\\rtf'))
    throw new ReadError('corrupt', 'The file is no RTF.');
  const hidden = createHiddenCounter(context);
  const reader = createRtfReader({ hidden, receipt });
  let count = 0;
  for (const token of rtfTokens(bytes)) {
    reader.add(token);
    count += 1;
    if (count % TOKENS_AT_ONCE === 0) yield* reader.take();
  }
  yield* reader.end();
  hidden.report();
}
