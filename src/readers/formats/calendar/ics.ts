import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { calendarBlocks } from './calendar-blocks.js';

/** Reads a file with entries of a calendar (RFC 5545). */
export function* parseIcs(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  receipt.setParser('calendar', '1');
  const text = decodeText(bytes, { receipt });
  if (!/^\s*BEGIN:V/i.test(text.slice(0, 200)))
    throw new ReadError('corrupt', 'The file is no calendar: it does not begin as one.');
  yield* calendarBlocks(text);
}
