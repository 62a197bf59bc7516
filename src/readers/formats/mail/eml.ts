import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { messageBlocks } from './message-blocks.js';
import { readMime } from './mime.js';
import { noteMessage } from './note-message.js';

/** Reads a message of electronic mail: its headers, its text, and the messages within it. */
export async function* parseEml(bytes: Uint8Array, context: ReadContext): AsyncIterable<Block> {
  context.receipt.setParser('postal-mime', '4.0.0');
  const message = await readMime(bytes, { receipt: context.receipt });
  if (message.body.kind === 'encrypted') throw new ReadError('encrypted', 'The e-mail message is encrypted.');
  noteMessage(message, context);
  yield* messageBlocks(message, context);
}
