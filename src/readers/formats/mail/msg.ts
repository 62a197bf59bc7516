import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { messageBlocks } from './message-blocks.js';
import { noteMessage } from './note-message.js';
import { readOutlookMessage } from './outlook-message.js';

/** Reads a message that Outlook has saved ([MS-OXMSG]). */
export async function* parseMsg(bytes: Uint8Array, context: ReadContext): AsyncIterable<Block> {
  context.receipt.setParser('msgreader', '1.28.0');
  const message = readOutlookMessage(bytes);
  if (message.body.kind === 'encrypted')
    throw new ReadError('encrypted', 'The Outlook message is encrypted.');
  noteMessage(message, context);
  yield* messageBlocks(message, context);
}
