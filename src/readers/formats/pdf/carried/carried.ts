import type { Block } from '../../../blocks/block.js';
import type { ReadContext } from '../../../parser.js';
import type { CarriedFile } from '../../../receipt/attachment-keeper.js';
import { takeAttachment } from '../../mail/take-attachment.js';
import { rounded } from '../../pages/layout/page-blocks.js';
import { mayName, NOTE_NAMES } from '../judging/names.js';
import type { PageExtras, Remark } from './annotations.js';

interface Source {
  /** Returns the remarks and files on a page; undefined when they cannot be read. */
  readonly extras: (page: number) => Promise<PageExtras | undefined>;
  /** The files that the document itself carries; nothing when they cannot be read. */
  readonly files: () => Promise<readonly CarriedFile[] | undefined>;
}

export type Carried = ReturnType<typeof createCarried>;

/** Reads the objects that a document carries beside the texts of its pages: notes that people stuck onto them, and files. */
export function createCarried(bytes: Uint8Array, source: Source, context: ReadContext) {
  const hasNotes = mayHoldNotes(bytes);
  const taken = new Set<string>();
  const take = async (file: CarriedFile): Promise<void> => {
    // One file may be listed and hang on a page.
    const key = `${file.filename ?? ''} ${String(file.bytes.length)}`;
    if (taken.has(key)) return;
    taken.add(key);
    await takeAttachment(file, context, undefined);
  };
  return {
    /** The notes of a page. Files that hang on it are taken as attachments. */
    async remarks(page: number): Promise<readonly Remark[]> {
      const extras = hasNotes ? await source.extras(page) : undefined;
      for (const file of extras?.files ?? []) await take(file);
      if (extras?.areCut === true)
        context.receipt.addGap('limit', 'Not all notes on the page were read.', {
          pages: { first: page, last: page },
        });
      return extras?.remarks ?? [];
    },
    async takeFiles(): Promise<void> {
      if (!mayHoldFiles(bytes)) return;
      const files = await source.files();
      if (!files) context.receipt.addGap('unreadable', 'The files within the PDF cannot be read.');
      for (const file of files ?? []) await take(file);
    },
  };
}

/** Notes as blocks that come after the texts of their page. */
export const remarkBlocks = (page: number, remarks: readonly Remark[]): Block[] =>
  remarks.map(({ text, box }) => ({
    text: `Comment: ${text}\n\n`,
    place: { page, boxes: [rounded(box)] },
  }));

/** Tells whether a file may have notes of people on its pages, or files that hang on them. */
const mayHoldNotes = (bytes: Uint8Array): boolean => mayName(bytes, NOTE_NAMES);

const mayHoldFiles = (bytes: Uint8Array): boolean => mayName(bytes, ['/EmbeddedFile', '/FileAttachment']);
