import { z } from 'zod';
import { type Gap, type Receipt, receiptSchema } from '../../readers/index.js';

/** The gap of a document with texts that are longer than the embedding model reads. */
export const EMBEDDED_IN_PARTS: Gap = {
  reason: 'limit',
  location: null,
  detail:
    'Some passages are longer than the embedding model reads: they were embedded in parts, and are found by the mean of these',
};

/** The content of most receipts, so that it is not stored with each. */
const USUAL: Receipt = {
  parser: 'text',
  parser_version: '1',
  title: null,
  language: null,
  mail: null,
  unit: 'file',
  parts: 1,
  parts_read: 1,
  characters: 0,
  tokens: 0,
  ocr: { pages: 0, confidence: null },
  gap_count: 0,
  gap_counts: {},
  gaps: [],
  attachments: [],
};

/** Packs a receipt for the hash of a generation. Usual fields are left out. */
export function packReceipt(receipt: Receipt): string {
  const usual = new Map<string, unknown>(Object.entries(USUAL));
  const isUnusual = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(usual.get(name));
  return JSON.stringify(Object.fromEntries(Object.entries(receipt).filter(isUnusual)));
}

/** @throws ZodError when it is not an output of `packReceipt` */
export function unpackReceipt(packed: string): Receipt {
  const stored = z.object().loose().parse(JSON.parse(packed));
  return receiptSchema.parse({ ...USUAL, ...stored });
}
