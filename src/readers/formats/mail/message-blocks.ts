import { ReadError } from '../../read-error.js';
import type { Block, Place } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { bodyBlocks } from './body-blocks.js';
import type { MailMessage } from './message.js';
import { takeAttachment } from './take-attachment.js';

/** Messages within messages that are read; in practice there are two or three. */
const MAX_MESSAGE_DEPTH = 10;
const MAX_HEADING_DEPTH = 6;

interface MessageOptions {
  readonly place?: Place | undefined;
  /** True if a chunk must begin with this message. */
  readonly isPart?: boolean | undefined;
  /** The number of messages around this one. */
  readonly depth?: number | undefined;
}

/** Writes a message: its subject as a heading, its other headers, its body, and the messages within it. */
export async function* messageBlocks(
  message: MailMessage,
  context: ReadContext,
  { place, isPart, depth = 0 }: MessageOptions = {},
): AsyncIterable<Block> {
  const blocks = ownBlocks(message, context, { place, depth });
  let isFirst = true;
  for (const block of blocks) {
    yield isFirst && isPart ? { ...block, isPart } : block;
    isFirst = false;
  }
  for (const attachment of message.attachments) await takeAttachment(attachment, context, place);
  for (const read of message.nested) {
    if (depth + 1 >= MAX_MESSAGE_DEPTH) {
      context.receipt.addGap('limit', tooDeep, locationOf(place));
      return;
    }
    const nested = await readNested(read, context, place);
    if (nested) yield* messageBlocks(nested, context, { place, depth: depth + 1 });
  }
}

const tooDeep = `Messages within more than ${String(MAX_MESSAGE_DEPTH - 1)} other messages are not read.`;

function* ownBlocks(
  message: MailMessage,
  context: ReadContext,
  { place, depth }: { place: Place | undefined; depth: number },
): Iterable<Block> {
  const { receipt } = context;
  const { subject, body } = message;
  if (subject !== '')
    yield { text: `${subject}\n\n`, heading: Math.min(depth + 1, MAX_HEADING_DEPTH), place };
  const lines = headerLines(message);
  if (lines !== '') yield { text: `${lines}\n`, place };
  const isEncrypted = body.kind === 'encrypted';
  if (isEncrypted) receipt.addGap('skipped', 'The body of a message is encrypted.', locationOf(place));
  let hasText = false;
  for (const block of bodyBlocks(body, context)) {
    hasText = true;
    yield { ...withinMessage(block, depth), place };
  }
  if (!hasText && !isEncrypted && message.nested.length === 0)
    receipt.addGap('empty', 'The body of a message holds no text.', locationOf(place));
}

/** Headings of a body stand below the subject. */
const withinMessage = ({ heading, ...block }: Block, depth: number): Block =>
  heading === undefined ? block : { ...block, heading: Math.min(heading + depth + 1, MAX_HEADING_DEPTH) };

function headerLines({ from, to, cc, date }: MailMessage): string {
  const headers = { From: from, To: to, Cc: cc, Date: date };
  return Object.entries(headers)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

async function readNested(
  read: MailMessage['nested'][number],
  { receipt }: ReadContext,
  place: Place | undefined,
): Promise<MailMessage | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    receipt.addGap('unreadable', `A message within this one: ${error.message}`, locationOf(place));
    return undefined;
  }
}

const locationOf = (place: Place | undefined) =>
  place?.message === undefined ? null : { message: place.message };
