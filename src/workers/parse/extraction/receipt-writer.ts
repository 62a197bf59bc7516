import type { Attachment, Gap, GapReason, PartUnit, Receipt } from '../../../shared/extraction/receipt.js';

/** Most gaps and attachments that a receipt names one by one. All are counted. */
const MOST_NAMED = 100;
/** Most characters of a title, or of a sentence about a gap. */
const MOST_CHARACTERS = 500;

/** Takes down what a parser reads and what it does not. */
export interface ReceiptWriter {
  /** Names the reader, such as `pdfium`, and its version. */
  setParser(name: string, version: string): void;
  setTitle(title: string): void;
  /** The language that the file says it is in, as BCP 47. */
  setLanguage(language: string): void;
  /** Says what the file is divided into, and into how many. */
  setParts(unit: PartUnit, total: number): void;
  /** Notes that one more part was read. */
  addPartRead(): void;
  addGap(reason: GapReason, detail: string, location?: Gap['location']): void;
  /** Notes that a page was read by text recognition, from 0 (guessed) to 1 (sure). */
  addOcrPage(confidence: number): void;
  addAttachment(attachment: Attachment): void;
}

export type Findings = Omit<Receipt, 'characters' | 'tokens'>;

export function createReceiptWriter(): ReceiptWriter & { readonly findings: () => Findings } {
  let parser = { name: 'text', version: process.versions.node };
  let title: string | null = null;
  let language: string | null = null;
  let parts: { unit: PartUnit; total: number } = { unit: 'file', total: 1 };
  let partsRead = 0;
  const confidences: number[] = [];
  const counts: Partial<Record<GapReason, number>> = {};
  const gaps: Gap[] = [];
  const attachments: Attachment[] = [];
  return {
    setParser: (name, version) => {
      parser = { name, version };
    },
    setTitle: (text) => {
      title = shorten(text) || null;
    },
    setLanguage: (text) => {
      language = shorten(text) || null;
    },
    setParts: (unit, total) => {
      parts = { unit, total };
    },
    addPartRead: () => {
      partsRead += 1;
    },
    addGap: (reason, detail, location = null) => {
      counts[reason] = (counts[reason] ?? 0) + 1;
      if (gaps.length < MOST_NAMED) gaps.push({ reason, location, detail: shorten(detail) });
    },
    addOcrPage: (confidence) => {
      confidences.push(confidence);
    },
    addAttachment: (attachment) => {
      if (attachments.length < MOST_NAMED) attachments.push(attachment);
    },
    findings: () => ({
      parser: parser.name,
      parser_version: parser.version,
      title,
      language,
      unit: parts.unit,
      parts: parts.total,
      parts_read: parts.unit === 'file' ? 1 : partsRead,
      ocr: { pages: confidences.length, confidence: meanOf(confidences) },
      gap_count: Object.values(counts).reduce((sum, count) => sum + count, 0),
      gap_counts: counts,
      gaps,
      attachments,
    }),
  };
}

const shorten = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MOST_CHARACTERS);

function meanOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.round(mean * 1000) / 1000;
}
