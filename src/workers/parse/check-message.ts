import { z } from 'zod';
import { FAILURE_CODES } from '../../shared/errors.js';
import { locationSchema } from '../../shared/extraction/location.js';
import { GAP_REASONS, gapSchema, MOST_NAMED, receiptSchema } from '../../shared/extraction/receipt.js';
import { MAX_TOKEN_LENGTH } from '../../shared/text/token-count.js';
import type { ChildMessage, ChildTask, ParseTask } from './protocol.js';

/** Most characters of a sentence or name in a receipt; `receipt-writer` and `attachment-keeper` write no more. */
const MOST_CHARACTERS = 1_000;
/** Most headings over a chunk; `collect-blocks` makes half as many. */
const MOST_HEADINGS = 16;
/** More gaps than a file can have: they are added to a metric. */
const MOST_COUNTED = 10_000_000;
/** Most rectangles of a location; see `locate-chunks`. */
const MOST_BOXES = 32;

const name = z.string().max(MOST_CHARACTERS);
const count = z.int().min(0);
const id = z.int();

/** A location as `locate-chunks` makes it: its names and rectangles are few. */
const boundedLocation = locationSchema
  .extend({
    boxes: locationSchema.shape.boxes.unwrap().max(MOST_BOXES).optional(),
    sheet: name.optional(),
    chapter: name.optional(),
  })
  .nullable();

const chunkSchema = z.strictObject({
  text: z.string(),
  tokenCount: count,
  overlap: count,
  // What is not understood must not keep a text from being found.
  location: boundedLocation.catch(null),
  section: z.array(name).max(MOST_HEADINGS),
});

/** What a parser may say of a document. Documents of attachments are only known to the worker, which makes them. */
const reportedReceipt = receiptSchema.extend({
  parser: name,
  parser_version: name,
  title: name.nullable(),
  language: name.nullable(),
  parts: count,
  parts_read: count,
  characters: count,
  tokens: count,
  ocr: z.object({ pages: count, confidence: z.number().min(0).max(1).nullable() }),
  gap_count: count.max(MOST_COUNTED),
  gap_counts: z.partialRecord(z.enum(GAP_REASONS), count.max(MOST_COUNTED)),
  gaps: z.array(gapSchema.extend({ detail: name, location: boundedLocation })).max(MOST_NAMED),
  attachments: z
    .array(
      z.object({
        filename: name.nullable(),
        content_type: name,
        size_bytes: count,
        document_id: z.null(),
        reason: name.nullable(),
      }),
    )
    .max(MOST_NAMED),
});

const keptAttachment = z.object({
  file: name,
  position: count,
  filename: name.nullable(),
  contentType: name,
});

const residentBytes = z.number().min(0);

const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('progress'), id, share: z.number().min(0).max(1) }),
  z.object({ type: z.literal('chunks'), id, chunks: z.array(chunkSchema) }),
  z.object({ type: z.literal('picture'), id, part: z.string() }),
  z.object({
    type: z.literal('done'),
    id,
    receipt: reportedReceipt.nullable(),
    attachments: z.array(keptAttachment).max(MOST_NAMED),
    residentBytes,
  }),
  z.object({ type: z.literal('failed'), id, code: z.enum(FAILURE_CODES), message: name, residentBytes }),
  z.object({ type: z.literal('broken'), id, message: z.string() }),
]);

/**
 * Checks what a parser process says, since a file may have taken it over.
 * @returns null for a message of another task; undefined for one that a parser never sends
 */
export function checkMessage(task: ChildTask, message: unknown): ChildMessage | null | undefined {
  if (isOfOtherTask(task, message)) return null;
  const checked = messageSchema.safeParse(message).data;
  return checked && fits(task, checked) ? checked : undefined;
}

/** The end of a message of the task before may still be under way. */
const isOfOtherTask = (task: ChildTask, message: unknown): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'id' in message &&
  Number.isSafeInteger(message.id) &&
  message.id !== task.id;

function fits(task: ChildTask, message: ChildMessage): boolean {
  if ('chunk' in task) return fitsDocument(task, message);
  if (message.type === 'done') return message.receipt === null && message.attachments.length === 0;
  return message.type !== 'chunks';
}

function fitsDocument({ chunk: { size } }: ParseTask, message: ChildMessage): boolean {
  switch (message.type) {
    case 'ready':
    case 'progress':
    case 'broken':
      return true;
    case 'picture':
      return false;
    case 'chunks':
      return message.chunks.every(
        ({ text, tokenCount, overlap }) =>
          tokenCount <= size && overlap <= text.length && text.length <= size * MAX_TOKEN_LENGTH,
      );
    case 'done':
      return message.receipt !== null && areApart(message.attachments);
    // It is never the service's fault, nor a provider's, that a document cannot be parsed.
    case 'failed':
      return message.code !== 'internal' && message.code !== 'provider';
  }
}

const areApart = (attachments: readonly { readonly position: number }[]): boolean =>
  new Set(attachments.map(({ position }) => position)).size === attachments.length;
