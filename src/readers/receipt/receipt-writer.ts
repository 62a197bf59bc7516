import { addTo } from '../../shared/at.js';
import { boundedNames } from '../blocks/bounded-names.js';
import { cleanText } from '../blocks/clean-text.js';
import {
  MAX_NAMED,
  type Attachment,
  type Gap,
  type GapReason,
  type MailHeaders,
  type PartUnit,
  type Receipt,
} from './receipt.js';

/** Most characters of a title, or of a sentence about a gap. */
const MAX_CHARACTERS = 500;

/** Notes the parts that a parser reads and the gaps. */
export interface ReceiptWriter {
  /** Names the reader, such as `pdfium`, and its version. */
  setParser(name: string, version: string): void;
  setTitle(title: string): void;
  /** The language that the file says it is in, as BCP 47. */
  setLanguage(language: string): void;
  /** Notes the headers of a file that is one message. */
  setMail(mail: MailHeaders): void;
  /** States the unit that the file is divided into, and the number of its parts. */
  setParts(unit: PartUnit, total: number): void;
  /** Notes that one more part was read. */
  addPartRead(): void;
  addGap(reason: GapReason, detail: string, location?: Gap['location']): void;
  /** Notes that a page was read by text recognition, from 0 (guessed) to 1 (sure). */
  addOcrPage(confidence: number): void;
  addAttachment(attachment: Attachment): void;
}

export type Findings = Omit<Receipt, 'characters' | 'tokens'>;

/**
 * @param first the parser that reads the file unless `setParser` says otherwise
 * @param onPartRead called with the share of the parts that is read, each time that there is one more
 */
export function createReceiptWriter(
  first: Reader = TEXT,
  onPartRead: (share: number) => void = () => undefined,
): ReceiptWriter & { readonly findings: () => Findings } {
  const gaps = createGaps();
  const about: About = { title: null, language: null, mail: null };
  const parts: { unit: PartUnit; total: number; read: number } = { unit: 'file', total: 1, read: 0 };
  let reader = first;
  const confidences: number[] = [];
  const attachments: Attachment[] = [];
  return {
    setParser: (name, version) => {
      reader = { name, version };
    },
    ...createAboutWriter(about),
    setParts: (unit, total) => {
      Object.assign(parts, { unit, total });
    },
    addPartRead: () => {
      parts.read += 1;
      onPartRead(Math.min(1, parts.read / parts.total));
    },
    addGap: gaps.add,
    addOcrPage: (confidence) => void confidences.push(confidence),
    addAttachment: (attachment) => {
      if (attachments.length < MAX_NAMED) attachments.push(shortened(attachment));
    },
    findings: () => ({
      ...describeReader(reader, about),
      ...describeParts(parts),
      ocr: { pages: confidences.length, confidence: meanOf(confidences) },
      ...gaps.describe(),
      attachments,
    }),
  };
}

type About = Pick<Findings, 'title' | 'language' | 'mail'>;

const createAboutWriter = (about: About): Pick<ReceiptWriter, 'setTitle' | 'setLanguage' | 'setMail'> => ({
  setTitle: (text) => {
    about.title = shorten(text) || null;
  },
  setLanguage: (text) => {
    about.language = shorten(text) || null;
  },
  setMail: (mail) => {
    about.mail = mail;
  },
});

/** The facts about the parser in a receipt. */
interface Reader {
  readonly name: string;
  readonly version: string;
}
const TEXT: Reader = { name: 'text', version: '1' };

const describeReader = ({ name, version }: Reader, about: About) => ({
  parser: name,
  parser_version: version,
  ...about,
});

/** A file that has no parts was read as a whole. */
const describeParts = ({ unit, total, read }: { unit: PartUnit; total: number; read: number }) => ({
  unit,
  parts: total,
  parts_read: unit === 'file' ? total : Math.min(read, total),
});

function createGaps() {
  const counts = new Map<GapReason, number>();
  const gaps: Gap[] = [];
  return {
    add: (reason: GapReason, detail: string, location: Gap['location'] = null): void => {
      addTo(counts, reason);
      if (gaps.length < MAX_NAMED)
        gaps.push({
          reason,
          location: location && { ...location, ...boundedNames(location) },
          detail: shorten(detail),
        });
    },
    describe: (): Pick<Findings, 'gap_count' | 'gap_counts' | 'gaps'> => ({
      gap_count: [...counts.values()].reduce((sum, count) => sum + count, 0),
      gap_counts: Object.fromEntries(counts),
      gaps,
    }),
  };
}

const shortened = (attachment: Attachment): Attachment => ({
  ...attachment,
  filename: attachment.filename === null ? null : shorten(attachment.filename),
  content_type: shorten(attachment.content_type),
});

const shorten = (text: string): string =>
  cleanText(text.slice(0, 4 * MAX_CHARACTERS))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_CHARACTERS);

function meanOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.round(mean * 1000) / 1000;
}

const ignore = (): void => undefined;

/** Notes the gaps of a file within a document, and nothing about the document itself. */
export const receiptOfPart = (receipt: ReceiptWriter): ReceiptWriter => ({
  ...receipt,
  setParser: ignore,
  setTitle: ignore,
  setLanguage: ignore,
  setParts: ignore,
  addPartRead: ignore,
});
