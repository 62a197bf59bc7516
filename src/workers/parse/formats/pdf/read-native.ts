import type { ParsedPage } from '@llamaindex/liteparse';
import type { Block } from '../../extraction/block.js';
import { createRecognizer } from '../ocr/recognizer.js';
import type { ParseContext } from '../parser.js';
import { findHidden } from './hidden.js';
import { mayHoldInvisibleText } from './invisible-text.js';
import { createFurniture } from './layout/furniture.js';
import { median } from './layout/piece.js';
import { turnOf } from './native-pieces.js';
import { passwordNeeded, pdfFailure } from './failures.js';
import type { PageBatch, Pdfium, Turn } from './pdfium.js';
import { resolvePage, type Readers, type ResolvedPage } from './resolve-page.js';
import { shownBlocks } from './layout/shown-blocks.js';
import { createSecondReader } from './second-reader.js';
import { tidyPage } from './tidy-page.js';

/** What `readNative` ends with when PDFium cannot open the file, and nothing was read. */
export const cannotOpen = Symbol('cannot open');

/** Reads a document with PDFium, by the layout of its pages. @throws IngestError when it is encrypted, or no page can be read */
export async function* readNative(
  pdfium: Pdfium,
  bytes: Uint8Array,
  { options, receipt }: ParseContext,
): AsyncGenerator<Block, typeof cannotOpen | undefined> {
  const second = createSecondReader(bytes);
  const readers: Readers = {
    pdfium,
    bytes,
    second,
    receipt,
    recognizer: createRecognizer({ pdfium, options, receipt }),
    hiddenText: options.hiddenText,
    mayBeInvisible: mayHoldInvisibleText(bytes),
  };
  const pages = createPageWriter();
  let last = 0;
  let total = 0;
  try {
    for await (const batch of openedBatches(pdfium, bytes)) {
      if (batch === cannotOpen || batch.total === 0) return cannotOpen;
      if (last === 0) await describe(batch.total, readers);
      ({ last, total } = batch);
      yield* pages.write(await resolveBatch(batch, readers));
    }
    if (last < total) yield* pages.write(await readMissing(last + 1, total, readers));
    if (!pages.hasAny()) throw pdfFailure(undefined);
    return undefined;
  } finally {
    await second.close();
  }
}

/** The batches of a document, until one fails. */
async function* openedBatches(
  pdfium: Pdfium,
  bytes: Uint8Array,
): AsyncGenerator<PageBatch | typeof cannotOpen> {
  let isOpen = false;
  try {
    for await (const batch of pdfium.readBatches(bytes)) {
      isOpen = true;
      yield batch;
    }
  } catch (error) {
    if (error instanceof Error && /password/i.test(error.message)) throw passwordNeeded(error);
    if (!isOpen) yield cannotOpen;
  }
}

async function describe(total: number, { pdfium, receipt, second }: Readers): Promise<void> {
  receipt.setParser('pdfium', pdfium.version);
  receipt.setParts('page', total);
  const { title, language } = await second.info();
  if (title !== undefined) receipt.setTitle(title);
  if (language !== undefined) receipt.setLanguage(language);
}

async function resolveBatch({ pages, first, last }: PageBatch, readers: Readers): Promise<ResolvedPage[]> {
  const turns = new Map(pages.flatMap((page) => turnOf(page) ?? []).map((turn) => [turn.page, turn]));
  const upright = await setUpright(pages, [...turns.values()], readers);
  const resolved: ResolvedPage[] = [];
  let next = first;
  const { pdfium, bytes, mayBeInvisible } = readers;
  for (const seen of await findHidden(upright, { pdfium, bytes, turns, mayBeInvisible })) {
    const number = seen.page.pageNum;
    resolved.push(...(await readMissing(next, number - 1, readers)));
    resolved.push(await resolvePage(seen, turns.get(number), readers));
    next = number + 1;
  }
  resolved.push(...(await readMissing(next, last, readers)));
  return resolved;
}

async function setUpright(
  pages: readonly ParsedPage[],
  turns: readonly Turn[],
  { pdfium, bytes }: Readers,
): Promise<readonly ParsedPage[]> {
  if (turns.length === 0) return pages;
  const upright = await pdfium.readUpright(bytes, turns).catch(() => []);
  const byNumber = new Map(upright.map((page) => [page.pageNum, page]));
  return pages.map((page) => byNumber.get(page.pageNum) ?? page);
}

/** Reads pages that PDFium could not read with pdf.js. */
async function readMissing(
  first: number,
  last: number,
  { second, receipt }: Readers,
): Promise<ResolvedPage[]> {
  const pages: ResolvedPage[] = [];
  for (let number = first; number <= last; number += 1) {
    const plain = await second.text(number);
    if (plain === undefined)
      receipt.addGap('unreadable', 'The page is damaged.', { pages: { first: number, last: number } });
    else {
      receipt.addPartRead();
      pages.push({ number, width: 0, height: 0, turn: undefined, pieces: [], plain });
    }
  }
  return pages;
}

/** Writes the blocks of pages, without what most of them repeat. */
function createPageWriter() {
  const furniture = createFurniture();
  const sizes: number[] = [];
  let written = 0;
  return {
    hasAny: () => written > 0,
    *write(batch: readonly ResolvedPage[]): Iterable<Block> {
      sizes.push(...batch.flatMap(sizesOf));
      if (sizes.length > 20_000) sizes.splice(0, sizes.length - 20_000);
      const bodySize = median(sizes);
      for (const page of furniture.strip(batch)) {
        written += 1;
        if (page.plain !== undefined)
          yield { text: `${tidyPage(page.plain)}\n\n`, place: { page: page.number } };
        else yield* shownBlocks(page, bodySize);
      }
    },
  };
}

/** The sizes of a page's texts, one for each twenty characters. */
function sizesOf({ pieces }: ResolvedPage): number[] {
  return pieces
    .slice(0, 2_000)
    .flatMap(({ text, size }) =>
      Array.from({ length: Math.ceil(Math.min(text.length, 400) / 20) }, () => size),
    );
}
