import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { messageBlocks } from './message-blocks.js';
import { readMime } from './mime.js';
import { toNarrowMail } from './mail-encoding.js';
import type { MailMessage } from './message.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const MAX_SEPARATOR_LENGTH = 1_000;

/** Reads a mailbox (RFC 4155) message by message, so that only one of them is held at a time. */
export async function* parseMbox(bytes: Uint8Array, context: ReadContext): AsyncIterable<Block> {
  const { receipt } = context;
  receipt.setParser('postal-mime', '4.0.0');
  const mailbox = toNarrowMail(bytes);
  const starts = messageStarts(mailbox);
  receipt.setParts('message', starts.length);
  let read = 0;
  for (const [index, start] of starts.entries()) {
    const number = index + 1;
    const message = await readOne(mailbox.subarray(start, starts[number] ?? mailbox.length), number, context);
    if (!message) continue;
    receipt.addPartRead();
    read += 1;
    yield* messageBlocks(message, context, { place: { message: number }, isPart: true });
  }
  if (read === 0) throw new ReadError('corrupt', 'The mailbox holds no message that can be read.');
}

/** Reads the message after its line `From …`. */
async function readOne(
  bytes: Buffer,
  number: number,
  { receipt }: ReadContext,
): Promise<MailMessage | undefined> {
  try {
    return await readMime(unquoted(bytes.subarray(bytes.indexOf(LINE_FEED) + 1)), { receipt });
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    receipt.addGap('unreadable', error.message, { message: number });
    return undefined;
  }
}

/** Returns the starts of messages: each line `From …` that follows an empty line, or is the first line. */
function messageStarts(mailbox: Buffer): number[] {
  const starts: number[] = [];
  for (let at = mailbox.indexOf('From '); at !== -1; at = mailbox.indexOf('\nFrom ', at)) {
    if (mailbox[at] === LINE_FEED) at += 1;
    else if (at !== 0) continue;
    if (starts.length === 0 || (followsEmptyLine(mailbox, at) && isSeparator(mailbox, at))) starts.push(at);
  }
  return starts;
}

function followsEmptyLine(mailbox: Buffer, at: number): boolean {
  const before = mailbox[at - 2];
  return before === LINE_FEED || (before === CARRIAGE_RETURN && mailbox[at - 3] === LINE_FEED);
}

/** Tells whether a line `From …` is more than the beginning of a sentence: it tells a time, or a header follows it. */
function isSeparator(mailbox: Buffer, start: number): boolean {
  const text = mailbox.toString('latin1', start, start + MAX_SEPARATOR_LENGTH);
  const [line = '', ...next] = text.split('\n', 2);
  return /\d\d:\d\d/.test(line) || next.some((header) => /^[\w-]{1,80}:/.test(header));
}

/** Lines that begin with `From ` within a message were written with `>` before them. */
function unquoted(bytes: Buffer): Buffer {
  if (!bytes.includes('>From ')) return bytes;
  return Buffer.from(bytes.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1');
}
