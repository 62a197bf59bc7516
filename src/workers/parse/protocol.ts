import { z } from 'zod';
import {
  GAP_REASONS,
  gapSchema,
  MAX_NAMED,
  receiptSchema,
  type AttachmentLimits,
  type Box,
  type FileFormat,
  type KeptAttachment,
  type ReadOptions,
  type Receipt,
} from '../../readers/index.js';
import type { Splitter } from '../../shared/chunking.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import { MAX_PACKED_SPOTS } from '../../shared/chunks/spots.js';
import { FAILURE_CODES, type FailureCode } from '../../shared/errors.js';
import { MAX_TOKEN_LENGTH } from '../../shared/text/token-count.js';
import type { ChunkOptions } from '../chunking/chunk.js';
import { MOST_EXCESS } from '../chunking/langchain.js';
import { MAX_HEADING_CHARACTERS, MAX_HEADINGS, boundedLocation } from './extraction.js';

/** UTF-16 units of text in one message, so that a message does not block the event loop of the pool. */
export const BATCH_LENGTH = 256 * 1024;
/** The shortest time between two messages about the progress of a document. */
export const PROGRESS_MILLISECONDS = 500;

/** A task for a child: to parse the file at `path`, or to chunk `text`. */
export interface ParseTask {
  readonly id: number;
  readonly format: FileFormat;
  /** The name that the client gives the file. */
  readonly filename?: string | null | undefined;
  readonly options?: ReadOptions | undefined;
  /** True if compiled code is left out, because another child has crashed in it. */
  readonly avoidsNativeCode?: boolean | undefined;
  /** The limits of the files within it that are kept; none is kept when it is absent. */
  readonly attachments?: AttachmentLimits | undefined;
  readonly source: { readonly path: string } | { readonly text: string };
  readonly chunk: ChunkingTask;
}

export interface ChunkingTask extends ChunkOptions {
  /** Quire's own where it is undefined. */
  readonly splitter?: Splitter | undefined;
}

/** A task for a child: to render a page of the file at `path` with rectangles marked, in points from its top left corner. */
export interface RenderTask {
  readonly id: number;
  readonly page: number;
  readonly boxes: readonly Omit<Box, 'page'>[];
  readonly source: { readonly path: string };
}

export type ChildTask = ParseTask | RenderTask;

/**
 * A message of a child. `progress` says which share of a document's parts is read. Several messages of `chunks` or `picture`,
 * which holds a part of a PNG in Base64, may come before `done`. A child says nothing of a task that is over.
 */
export type ChildMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'progress'; readonly id: number; readonly share: number }
  | { readonly type: 'chunks'; readonly id: number; readonly chunks: readonly ChunkText[] }
  | { readonly type: 'picture'; readonly id: number; readonly part: string }
  | {
      readonly type: 'done';
      readonly id: number;
      /** Null for a picture. */
      readonly receipt: Receipt | null;
      /** Files in the child's folder, which the pool takes out of it. */
      readonly attachments: readonly KeptAttachment[];
      readonly residentBytes: number;
    }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code: FailureCode;
      readonly message: string;
      readonly residentBytes: number;
    }
  | { readonly type: 'broken'; readonly id: number; readonly message: string };

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
  spots: z.string().max(MAX_PACKED_SPOTS),
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
type TaskMessage = Exclude<ChildMessage, { type: 'ready' }>;

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

function fitsDocument({ chunk: { size, splitter = 'quire' } }: ParseTask, message: TaskMessage): boolean {
  switch (message.type) {
    case 'progress':
    case 'broken':
      return true;
    case 'picture':
      return false;
    case 'chunks':
      return message.chunks.every(
        ({ text, tokenCount, overlap }) =>
          tokenCount <= (splitter === 'quire' ? size : MOST_EXCESS * size) &&
          overlap < text.length &&
          text.length <= size * MAX_TOKEN_LENGTH,
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
