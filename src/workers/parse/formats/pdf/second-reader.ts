import type { CarriedFile } from '../../extraction/attachment-keeper.js';
import type { PageExtras } from './carried/annotations.js';
import type { PageSign } from './marks/page-signs.js';
import type { ShiftedText } from './shifted/find-shifted.js';
import type { DocumentInfo, PdfjsDocument, TypedNote } from './pdfjs.js';

/** The files that pdf.js is asked for their title; it copies a file before it reads it. */
const LARGEST_FOR_INFO = 48 * 1024 * 1024;

export type SecondReader = ReturnType<typeof createSecondReader>;

/** Reads single pages of a document with pdf.js, which is opened when it is needed first. */
export function createSecondReader(bytes: Uint8Array) {
  let opened: Promise<PdfjsDocument | undefined> | undefined;
  const open = () => (opened ??= openLater(bytes).catch(() => undefined));
  return {
    /** The text of a page; nothing when it cannot be read. */
    async text(page: number): Promise<string | undefined> {
      return await (await open())?.pageText(page).catch(() => undefined);
    },
    /** The raised and lowered texts of a page; none when they cannot be read. */
    async shifted(page: number): Promise<readonly ShiftedText[]> {
      return (await (await open())?.pageShifted(page).catch(() => [])) ?? [];
    },
    /** The texts that were typed onto a page; nothing when they cannot be read. */
    async notes(page: number): Promise<readonly TypedNote[] | undefined> {
      return await (await open())?.pageNotes(page).catch(() => undefined);
    },
    /** The numbers of the annotations of a page that are not shown; nothing when they cannot be read. */
    async hiddenAnnotations(page: number): Promise<ReadonlySet<number> | undefined> {
      return await (await open())?.hiddenAnnotations(page).catch(() => undefined);
    },
    /** What a page shows in symbol fonts; nothing when it cannot be read. */
    async signs(page: number): Promise<readonly PageSign[] | undefined> {
      return await (await open())?.pageSigns(page).catch(() => undefined);
    },
    /** What people stuck onto a page; nothing when it cannot be read. */
    async extras(page: number): Promise<PageExtras | undefined> {
      return await (await open())?.pageExtras(page).catch(() => undefined);
    },
    /** The files that the document carries; nothing when they cannot be read. */
    async files(): Promise<readonly CarriedFile[] | undefined> {
      return await (await open())?.files().catch(() => undefined);
    },
    /** Whether a page may show less text than it holds. */
    async isPartlyInvisible(page: number): Promise<boolean> {
      return (await (await open())?.isPartlyInvisible(page).catch(() => true)) ?? true;
    },
    async info(): Promise<DocumentInfo> {
      const known = bytes.length > LARGEST_FOR_INFO ? undefined : await (await open())?.info();
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
  return await (await import('./pdfjs.js')).openPdfjs(bytes);
}
