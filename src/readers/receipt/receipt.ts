import { z } from 'zod';
import { addTo } from '../../shared/at.js';
import { locationSchema } from '../blocks/location.js';

/** The reasons why a part of a file was not read, or is not in the chunks. */
export const GAP_REASONS = [
  /** A part, such as a page, holds no text. */
  'empty',
  /** The text of a part cannot be what it shows, such as text in a font without a map to characters. */
  'garbled',
  /** The text may say something else: two ways to read its bytes are about as likely. */
  'guessed',
  /** A part is damaged. */
  'unreadable',
  /** Something that is not read: an embedded object, a picture without text recognition. */
  'skipped',
  /** Text that readers of the file do not see. */
  'hidden',
  /** A limit cut something off. */
  'limit',
] as const;
export type GapReason = (typeof GAP_REASONS)[number];

/** The units that a file is divided into. */
export const PART_UNITS = ['file', 'page', 'slide', 'sheet', 'chapter', 'message'] as const;
export type PartUnit = (typeof PART_UNITS)[number];

export const gapSchema = z.object({
  reason: z.enum(GAP_REASONS),
  /** The place of the gap, as far as the format tells. */
  location: locationSchema.nullable(),
  /** The missing content and the reason, in a sentence. */
  detail: z.string(),
});
export type Gap = z.infer<typeof gapSchema>;

const attachmentSchema = z.object({
  filename: z.string().nullable(),
  content_type: z.string(),
  size_bytes: z.int(),
  /** The document that was made of it; null when none was. */
  document_id: z.string().nullable(),
  /** The reason why no document was made of it. */
  reason: z.string().nullable(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/** Most addresses of each kind that filters can name, and most UTF-16 units of a header. */
export const MAX_ADDRESSES = 32;
export const MAX_HEADER_CHARACTERS = 500;

const header = z.string().max(MAX_HEADER_CHARACTERS);
const addresses = z.array(header).max(MAX_ADDRESSES);

/** The headers of a message, as filters ask for them. Addresses are in lower case, without names. */
export const mailHeadersSchema = z.object({
  from: addresses,
  to: addresses,
  cc: addresses,
  /** ISO 8601 in UTC; null where the message has no date that can be read. */
  date: header.nullable(),
  subject: header.nullable(),
  /** Without angle brackets, as JMAP has it (RFC 8621). */
  message_id: header.nullable(),
});
export type MailHeaders = z.infer<typeof mailHeadersSchema>;

/** Most gaps and attachments that a receipt names one by one. All gaps are counted. */
export const MAX_NAMED = 100;

/** The parts of a file that were read, and the gaps. */
export const receiptSchema = z.object({
  /** The reader, such as `pdfium`, and its version. */
  parser: z.string(),
  parser_version: z.string(),
  title: z.string().nullable(),
  /** The language that the file says it is in, as BCP 47. */
  language: z.string().nullable(),
  /** The headers of a file that is one message. */
  mail: mailHeadersSchema.nullable(),
  unit: z.enum(PART_UNITS),
  parts: z.int(),
  parts_read: z.int(),
  /** UTF-16 units of the text, without the repetitions of chunks. */
  characters: z.int(),
  tokens: z.int(),
  /** Pages that were read by text recognition, and how sure that was on average, from 0 to 1. */
  ocr: z.object({ pages: z.int(), confidence: z.number().nullable() }),
  /** The number of gaps; the list names the first of them. */
  gap_count: z.int(),
  gap_counts: z.partialRecord(z.enum(GAP_REASONS), z.int()),
  gaps: z.array(gapSchema),
  attachments: z.array(attachmentSchema),
});
export type Receipt = z.infer<typeof receiptSchema>;

/** Makes the gap for an attachment of which no document is made. */
export const missingAttachment = (filename: string | null | undefined, reason: string): Gap => ({
  reason: 'skipped',
  location: null,
  detail: `The attachment ${filename ?? 'without a name'} is not read: ${reason}`,
});

/** Adds gaps that appeared after the file was read. */
export function addGaps(receipt: Receipt, gaps: readonly Gap[]): Receipt {
  const counts = new Map(Object.entries(receipt.gap_counts));
  for (const { reason } of gaps) addTo(counts, reason);
  return {
    ...receipt,
    gap_count: receipt.gap_count + gaps.length,
    gap_counts: Object.fromEntries(counts),
    gaps: [...receipt.gaps, ...gaps].slice(0, MAX_NAMED),
  };
}
