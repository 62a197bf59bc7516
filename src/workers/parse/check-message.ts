import { z } from 'zod';
import { FAILURE_CODES } from '../../shared/errors.js';
import { GAP_REASONS, gapSchema, MAX_NAMED, receiptSchema } from '../../readers/index.js';
import { MAX_TOKEN_LENGTH } from '../../shared/text/token-count.js';
import { MAX_HEADING_CHARACTERS, MAX_HEADINGS, boundedLocation } from './extraction/chunk-bounds.js';
import { BATCH_LENGTH, type ChildMessage, type ChildTask, type ParseTask } from './protocol.js';

/** Most characters of a sentence or name in a receipt; `receipt-writer` and `attachment-keeper` write no more. */
const MAX_CHARACTERS = 1_000;
/** More gaps than a file can have: they are added to a metric. */
const MAX_COUNTED = 10_000_000;

const name = z.string().max(MAX_CHARACTERS);
const count = z.int().min(0);
const id = z.int();

const chunkSchema = z.strictObject({
  text: z.string(),
  tokenCount: count.min(1),
  overlap: count,
  location: boundedLocation,
  section: z.array(z.string().max(MAX_HEADING_CHARACTERS)).max(MAX_HEADINGS),
});

/** The receipt that a parser may report. Only the worker knows documents of attachments, since it makes them. */
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
  gap_count: count.max(MAX_COUNTED),
  gap_counts: z.partialRecord(z.enum(GAP_REASONS), count.max(MAX_COUNTED)),
  gaps: z.array(gapSchema.extend({ detail: name, location: boundedLocation })).max(MAX_NAMED),
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
    .max(MAX_NAMED),
});

const keptAttachment = z.object({
  file: name,
  position: count,
  filename: name.nullable(),
  contentType: name,
});

const residentBytes = z.number().min(0);

const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), id, share: z.number().min(0).max(1) }),
  z.object({ type: z.literal('chunks'), id, chunks: z.array(chunkSchema).min(1) }),
  z.object({ type: z.literal('picture'), id, part: z.string().min(1).max(BATCH_LENGTH) }),
  z.object({
    type: z.literal('done'),
    id,
    receipt: reportedReceipt.nullable(),
    attachments: z.array(keptAttachment).max(MAX_NAMED),
    residentBytes,
  }),
  z.object({ type: z.literal('failed'), id, code: z.enum(FAILURE_CODES), message: name, residentBytes }),
  z.object({ type: z.literal('broken'), id, message: name }),
]);

/** The messages of a child about a task. It is ready once, before its first one. */
export type TaskMessage = Exclude<ChildMessage, { type: 'ready' }>;

/**
 * Checks a message of a parser process, since a file may have taken it over.
 * @returns null for a message of an earlier task, of which the present one is innocent; undefined for a message that no
 *   parser sends
 */
export function checkMessage(task: ChildTask, message: unknown): TaskMessage | null | undefined {
  const checked = messageSchema.safeParse(message).data;
  if (!checked) return undefined;
  if (checked.id < task.id) return null;
  return checked.id === task.id && fits(task, checked) ? checked : undefined;
}

function fits(task: ChildTask, message: TaskMessage): boolean {
  if ('chunk' in task) return fitsDocument(task, message);
  if (message.type === 'done') return message.receipt === null && message.attachments.length === 0;
  return message.type !== 'chunks';
}

function fitsDocument({ chunk: { size } }: ParseTask, message: TaskMessage): boolean {
  switch (message.type) {
    case 'progress':
    case 'broken':
      return true;
    case 'picture':
      return false;
    case 'chunks':
      return message.chunks.every(
        ({ text, tokenCount, overlap }) =>
          tokenCount <= size && overlap < text.length && text.length <= size * MAX_TOKEN_LENGTH,
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
