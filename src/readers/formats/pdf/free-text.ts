import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import type { Note, Pdfium, Turn } from '../pages/pdfium.js';
import { touches } from '../visibility/layers.js';
import { mayName } from './judging/names.js';
import type { TypedNote } from './pdfjs/pdfjs.js';
import type { SecondReader } from './pdfjs/second-reader.js';
import { letterHeight, linesOf, withItems } from './with-items.js';

const MAX_NOTES = 1_000;
/** The height of a line of a note, in points, unless its box is lower. */
const LINE_HEIGHT = 12;

/** The mean width of a letter, in heights of its line. Boxes of notes are often wider than their text. */
const MEAN_WIDTH = 0.45;

interface Source {
  readonly pdfium: Pick<Pdfium, 'readNotes'>;
  readonly bytes: Uint8Array;
  /** Reads the text that annotations show, which can differ from their contents. */
  readonly second: Pick<SecondReader, 'notes'>;
  readonly receipt: ReceiptWriter;
}

/** Tells whether a file may have text that was typed onto its pages afterwards, as annotations. */
export const mayHoldFreeText = (bytes: Uint8Array): boolean => mayName(bytes, ['/FreeText']);

/** Adds text that was typed onto the pages as annotations, which PDFium draws but does not count among their texts. */
export async function addFreeText(
  pages: readonly ParsedPage[],
  turns: ReadonlyMap<number, Turn>,
  { pdfium, bytes, second, receipt }: Source,
): Promise<readonly ParsedPage[]> {
  const upright = pages.map(({ pageNum }) => pageNum).filter((number) => !turns.has(number));
  if (upright.length === 0) return pages;
  const notes = await pdfium.readNotes(bytes, upright).catch(() => undefined);
  return await Promise.all(
    pages.map(async (page) => {
      const all = notes?.get(page.pageNum) ?? [];
      const found = all.slice(0, MAX_NOTES);
      if (found.length === 0) return page;
      if (found.length < all.length)
        receipt.addGap('limit', 'Not all texts that were typed onto the page were read.', {
          pages: { first: page.pageNum, last: page.pageNum },
        });
      const shown = asShown(found, (await second.notes(page.pageNum)) ?? [], page.textItems);
      return withItems(page, shown.filter((note) => !isShown(note, page.textItems)).flatMap(shownLines));
    }),
  );
}

interface ShownNote extends Note {
  readonly isHidden?: boolean;
}

/** Returns the notes with the text that each shows, by which they are found: the contents of a note can be something else. */
function asShown(
  notes: readonly Note[],
  typed: readonly TypedNote[],
  items: readonly TextItem[],
): readonly ShownNote[] {
  const byContents = new Map<string, TypedNote[]>();
  for (const each of typed) {
    const contents = compact(each.contents);
    byContents.set(contents, [...(byContents.get(contents) ?? []), each]);
  }
  return notes.map((note, index) => {
    // The two readers may differ in the encoding of a note's contents.
    const other = typed.length === notes.length ? typed[index] : undefined;
    const { shown } = byContents.get(compact(note.text))?.shift() ?? other ?? {};
    if (shown) return { ...note, text: shown.join('\n') };
    // A note that shows no text itself would be taken for the text printed below it.
    return { ...note, isHidden: typed.length > 0 && (shown === undefined || isUpon(note, items)) };
  });
}

const isUpon = ({ box }: Note, items: readonly TextItem[]): boolean =>
  items.some((item) => touches(item, box));

/** Tells whether the texts of the page show a note already. */
function isShown({ text, box }: Note, items: readonly TextItem[]): boolean {
  const near = items.filter((item) => touches(item, box)).map((item) => compact(item.text));
  return near.join('').includes(compact(text));
}

const compact = (text: string): string => text.replace(/\s+/g, '');

/**
 * The lines of a note, as texts of a light colour, so that they are compared with a picture of the page and hidden ones are
 * found.
 */
function shownLines({ text, box, isHidden }: ShownNote): TextItem[] {
  const lines = linesOf(text);
  const height = Math.min(LINE_HEIGHT, box.height / lines.length);
  return lines.map((line, index) => ({
    text: line,
    x: box.x,
    y: lines.length === 1 ? box.y : box.y + index * height,
    width: Math.min(box.width, line.length * height * MEAN_WIDTH),
    height: lines.length === 1 ? box.height : height,
    fontHeight: letterHeight(height, box),
    fillColor: isHidden ? '00ffffff' : 'ffffffff',
    rotation: 0,
  }));
}
