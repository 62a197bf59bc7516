import { loadPdfjs } from './load-pdfjs.js';
import type { DocumentInfo, PdfjsDocument } from './pdfjs.js';

/** The files that pdf.js is asked for their title; it copies a file before it reads it. */
const MAX_BYTES_FOR_INFO = 48 * 1024 * 1024;

export type SecondReader = ReturnType<typeof createSecondReader>;

/** Reads single pages of a document with pdf.js, which is opened when it is needed first. */
export function createSecondReader(bytes: Uint8Array) {
  let opened: Promise<PdfjsDocument | undefined> | undefined;
  const open = () => (opened ??= openLater(bytes).catch(() => undefined));
  const ask = async <Answer>(read: (pdf: PdfjsDocument) => Promise<Answer>): Promise<Answer | undefined> => {
    const pdf = await open();
    return pdf && (await read(pdf).catch(() => undefined));
  };
  return {
    /** The text of a page; nothing when it cannot be read. */
    text: (page: number) => ask((pdf) => pdf.pageText(page)),
    /** The number of the object of a page; nothing when it cannot be told. */
    object: (page: number) => ask((pdf) => pdf.pageObject(page)),
    /** The raised and lowered texts of a page; none when they cannot be read. */
    shifted: async (page: number) => (await ask((pdf) => pdf.pageShifted(page))) ?? [],
    /** The columns of a page whose text runs from top to bottom; none when they cannot be read. */
    columns: async (page: number) => (await ask((pdf) => pdf.pageColumns(page))) ?? [],
    /** The texts that were typed onto a page; nothing when they cannot be read. */
    notes: (page: number) => ask((pdf) => pdf.pageNotes(page)),
    /** The numbers of the annotations of a page that are not shown; nothing when they cannot be read. */
    hiddenAnnotations: (page: number) => ask((pdf) => pdf.hiddenAnnotations(page)),
    /** Returns the texts of a page in symbol fonts; nothing when it cannot be read. */
    signs: (page: number) => ask((pdf) => pdf.pageSigns(page)),
    /** The texts of a page with characters beyond U+FFFF; nothing when it cannot be read. */
    supplementary: (page: number) => ask((pdf) => pdf.pageSupplementary(page)),
    /** The characters of a page that PDFium may leave out, since their font is not in the file; nothing when they cannot be read. */
    fontless: (page: number, known: readonly string[]) => ask((pdf) => pdf.pageFontless(page, known)),
    /** Returns the notes and files that people stuck onto a page; nothing when it cannot be read. */
    extras: (page: number) => ask((pdf) => pdf.pageExtras(page)),
    /** The files that the document carries; nothing when they cannot be read. */
    files: () => ask((pdf) => pdf.files()),
    /** Tells whether a page may show less text than it holds. */
    isPartlyInvisible: async (page: number) => (await ask((pdf) => pdf.isPartlyInvisible(page))) ?? true,
    async info(): Promise<DocumentInfo> {
      const known = bytes.length > MAX_BYTES_FOR_INFO ? undefined : await (await open())?.info();
      return known ?? { title: undefined, language: undefined, mayHideLayers: mayHaveLayers(bytes) };
    },
    async close(): Promise<void> {
      await (await opened)?.close();
    },
  };
}

function mayHaveLayers({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, byteLength).includes('/OCProperties');
}

async function openLater(bytes: Uint8Array): Promise<PdfjsDocument> {
  return await (await loadPdfjs()).openPdfjs(bytes);
}

/** The text of a page as the second reader gives it, without spaces and lines that say nothing. */
export function tidyPage(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
