import type { Gap } from '../../receipt/receipt.js';
import type { Block } from '../../blocks/block.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import type { Parser, ReadContext } from '../../parser.js';
import { joinHyphens } from '../pages/layout/hyphens.js';
import { createVocabulary } from '../pages/layout/vocabulary.js';
import { loadPdfium } from '../pages/pdfium.js';
import { createCarried, remarkBlocks } from './carried/carried.js';
import { pdfFailure } from './failures.js';
import { loadPdfjs } from './pdfjs/load-pdfjs.js';
import { createSignReader } from '../signs/sign-reader.js';
import { mayHoldForm } from './marks/form-fields.js';
import { readPrivate } from './marks/private-signs.js';
import type { PdfjsDocument } from './pdfjs/pdfjs.js';
import { tidyPage } from './pdfjs/second-reader.js';
import { cannotOpen, readNative } from './read-native.js';

/**
 * Parses PDF page by page, with PDFium where there is a build of it for this machine and it does not fail, else with
 * pdf.js. A page that cannot be read is left out and noted.
 */
export const parsePdf: Parser = async function* (bytes, context) {
  const pdfium = context.avoidsNativeCode ? undefined : await loadPdfium();
  if (pdfium) {
    const end = yield* readNative(pdfium, bytes, context);
    if (end !== cannotOpen) return;
  }
  yield* readWithPdfjs(bytes, context);
};

async function* readWithPdfjs(bytes: Uint8Array, context: ReadContext): AsyncGenerator<Block> {
  const { receipt } = context;
  const { openPdfjs, pdfjsVersion } = await loadPdfjs();
  const pdf = await openPdfjs(bytes);
  try {
    receipt.setParser('pdf.js', pdfjsVersion());
    await describe(pdf, receipt);
    if (mayHoldForm(bytes)) receipt.addGap('skipped', 'What is filled into the form may not be read.');
    const vocabulary = createVocabulary();
    const signs = createSignReader(receipt);
    const source = {
      extras: (page: number) => pdf.pageExtras(page).catch(() => undefined),
      files: () => pdf.files().catch(() => undefined),
    };
    const carried = createCarried(bytes, source, context);
    let firstFailure: unknown;
    let failures = 0;
    for (let page = 1; page <= pdf.pages; page += 1) {
      const location = { pages: { first: page, last: page } };
      try {
        const text = readPrivate(tidyPage(await pdf.pageText(page)), signs);
        receipt.addPartRead();
        if (text === '') addWithoutText(context, location);
        vocabulary.add(text);
        yield* joinHyphens([{ text: `${text}\n\n`, place: { page } }], vocabulary);
        yield* remarkBlocks(page, await carried.remarks(page));
      } catch (error) {
        firstFailure ??= error;
        failures += 1;
        receipt.addGap('unreadable', 'The page is damaged.', location);
      }
    }
    signs.report();
    if (failures === pdf.pages) throw pdfFailure(firstFailure);
    await carried.takeFiles();
  } finally {
    await pdf.close();
  }
}

async function describe(pdf: PdfjsDocument, receipt: ReceiptWriter): Promise<void> {
  receipt.setParts('page', pdf.pages);
  const { title, language } = await pdf.info();
  if (title !== undefined) receipt.setTitle(title);
  if (language !== undefined) receipt.setLanguage(language);
}

/** Reports a page without text, which may be a picture: this reader cannot tell. */
function addWithoutText(
  { options, avoidsNativeCode, receipt }: ReadContext,
  location: Gap['location'],
): void {
  const may = 'The page holds no text. It may be a picture, which was not read: ';
  if (options.ocr === 'off') receipt.addGap('skipped', `${may}text recognition is off.`, location);
  else if (avoidsNativeCode)
    receipt.addGap('unreadable', `${may}text recognition failed on the document.`, location);
  else receipt.addGap('skipped', `${may}there is no text recognition for this machine.`, location);
}
