import type { ParsedPage } from '@llamaindex/liteparse';
import type { Block } from '../../blocks/block.js';
import { createRecognizer } from '../ocr/recognizer.js';
import type { ReadContext } from '../../parser.js';
import { addFormFields, mayHoldForm, noteXfa } from './marks/form-fields.js';
import { addFreeText, mayHoldFreeText } from './free-text.js';
import { findHidden } from './hidden.js';
import { createPageObjects } from './judging/page-objects.js';
import { unicodeFonts, withCodes } from './judging/unicode-fonts.js';
import { lookThrough } from './judging/page-contents.js';
import { mayHoldVerticalText } from './vertical/vertical-text.js';
import { createFurniture } from '../pages/layout/furniture.js';
import { createBodySize } from '../pages/layout/page-blocks.js';
import { joinHyphens } from '../pages/layout/hyphens.js';
import { createVocabulary } from '../pages/layout/vocabulary.js';
import { shownBlocks } from '../pages/shown-blocks.js';
import { turnOf } from '../pages/native-pieces.js';
import { createHiddenCounter } from '../visibility/hidden-counter.js';
import { passwordNeeded, pdfFailure } from './failures.js';
import type { PageBatch, Pdfium, Reading, Turn } from '../pages/pdfium.js';
import { addCentredNumbers } from './centred-numbers.js';
import { createCarried, remarkBlocks, type Carried } from './carried/carried.js';
import { createCoverage } from './judging/coverage.js';
import { resolvePage, type Readers, type ResolvedPage } from './resolve-page.js';
import type { DocumentInfo } from './pdfjs/pdfjs.js';
import { createSecondReader } from './pdfjs/second-reader.js';
import { createFontless } from './fontless/fontless.js';
import { createSupplementary } from './marks/supplementary.js';
import { createSignFinder } from './marks/symbol-fonts.js';
import { tidyPage } from './tidy-page.js';
import { withItems } from './with-items.js';
import { createWorkBudgets } from './work-budgets.js';

/** The result of `readNative` when PDFium cannot open the file, and nothing was read. */
export const cannotOpen = Symbol('cannot open');

/** Reads a document with PDFium, by the layout of its pages. @throws ReadError when it is encrypted, or no page can be read */
export async function* readNative(
  pdfium: Pdfium,
  bytes: Uint8Array,
  context: ReadContext,
): AsyncGenerator<Block, typeof cannotOpen | undefined> {
  const { readers, how } = createReaders(pdfium, bytes, context);
  const { second } = readers;
  const carried = createCarried(bytes, second, context);
  // pdf.js opens the file while PDFium reads the first pages in a thread.
  const info = second.info();
  const pages = createPageWriter(carried);
  let last = 0;
  let total = 0;
  try {
    for await (const batch of openedBatches(pdfium, bytes, how)) {
      if (batch === cannotOpen || batch.total === 0) return cannotOpen;
      if (last === 0) await describe(batch.total, info, readers);
      ({ last, total } = batch);
      yield* pages.write(await resolveBatch(batch, readers, await info));
    }
    if (last < total) yield* pages.write(await readMissing(last + 1, total, readers));
    readers.signs.report();
    if (how.withFields) noteXfa(bytes, context.receipt);
    if (!pages.hasAny()) throw pdfFailure(undefined);
    await carried.takeFiles();
    return undefined;
  } finally {
    // Those who take the beginning of a file alone are told, too.
    for (const budget of Object.values(readers.budgets)) budget.report(context.receipt);
    await second.close();
  }
}

function createReaders(
  pdfium: Pdfium,
  bytes: Uint8Array,
  context: ReadContext,
): { readonly readers: Readers; readonly how: Reading } {
  const { options, receipt } = context;
  const second = createSecondReader(bytes);
  const { shifting, supplementary, brokenOff, ...contents } = lookThrough(bytes);
  const objects = createPageObjects(bytes);
  const withShapes = contents.mayHaveBars || contents.mayHaveLines;
  const budgets = createWorkBudgets();
  const readers: Readers = {
    pdfium,
    bytes,
    withShapes,
    second,
    signs: createSignFinder({ bytes, second, objects, receipt, budget: budgets.signs }),
    supplementary: createSupplementary({
      second,
      objects,
      maps: supplementary,
      receipt,
      budget: budgets.supplementary,
    }),
    fontless: createFontless({ pdfium, bytes, second, objects, receipt, budget: budgets.fontless }),
    receipt,
    recognizer: createRecognizer({ pdfium, options, receipt }),
    hidden: createHiddenCounter(context),
    mayBeInvisible: contents.mayBeInvisible,
    isBrokenOff: createBrokenOff(brokenOff, objects, second),
    mayBeShifted: async (page) =>
      shifting === 'any' ||
      (shifting.size > 0 && objects.mayUse(await second.object(page), { objects: shifting })),
    mayHaveFreeText: mayHoldFreeText(bytes),
    fonts: unicodeFonts(bytes),
    mayBeVertical: mayHoldVerticalText(bytes),
    budgets,
  };
  return { readers, how: { withShapes, withFields: mayHoldForm(bytes) } };
}

/** Follows content of which the beginning alone can be read. @param streams the numbers of their objects */
function createBrokenOff(
  streams: ReadonlySet<number>,
  objects: ReturnType<typeof createPageObjects>,
  second: Readers['second'],
): Readers['isBrokenOff'] {
  let isUnknown = false;
  return async (page) => {
    if (streams.size === 0) return 'no';
    const isUsed = objects.uses(await second.object(page), streams);
    if (isUsed !== undefined || isUnknown) return isUsed === true ? 'here' : 'no';
    isUnknown = true;
    return 'somewhere';
  };
}

/** The batches of a document, until one fails. */
async function* openedBatches(
  pdfium: Pdfium,
  bytes: Uint8Array,
  how: Reading,
): AsyncGenerator<PageBatch | typeof cannotOpen> {
  let isOpen = false;
  try {
    for await (const batch of pdfium.readBatches(bytes, how)) {
      isOpen = true;
      yield batch;
    }
  } catch (error) {
    if (error instanceof Error && /password/i.test(error.message)) throw passwordNeeded(error);
    if (!isOpen) yield cannotOpen;
  }
}

async function describe(
  total: number,
  info: Promise<DocumentInfo>,
  { pdfium, receipt }: Readers,
): Promise<void> {
  receipt.setParser('pdfium', pdfium.version);
  receipt.setParts('page', total);
  const { title, language } = await info;
  if (title !== undefined) receipt.setTitle(title);
  if (language !== undefined) receipt.setLanguage(language);
}

async function resolveBatch(
  { pages, first, last }: PageBatch,
  readers: Readers,
  { mayHideLayers }: DocumentInfo,
): Promise<ResolvedPage[]> {
  const found = await readers.fontless.find(pages);
  const turns = new Map(found.flatMap((page) => turnOf(page) ?? []).map((turn) => [turn.page, turn]));
  const coded = found.map((page) => withCodes(page, readers.fonts));
  const signed = await readers.signs.find(coded, turns);
  const whole = await readers.supplementary.find(signed, turns);
  const answered = await addFormFields(whole, turns, readers);
  const numbered = await addCentredNumbers(answered, turns, readers);
  const typed = readers.mayHaveFreeText ? await addFreeText(numbered, turns, readers) : numbered;
  const upright = await setUpright(typed, [...turns.values()], readers);
  const resolved: ResolvedPage[] = [];
  let next = first;
  const { pdfium, bytes, budgets, fontless } = readers;
  const areAllDoubtful = readers.mayBeInvisible || mayHideLayers;
  const batchReaders = { ...readers, coverage: createCoverage(pdfium, bytes, pages) };
  const how = { pdfium, bytes, turns, areAllDoubtful, budget: budgets.hidden, undrawn: fontless.undrawn };
  for (const seen of await findHidden(upright, how)) {
    const number = seen.page.pageNum;
    resolved.push(...(await readMissing(next, number - 1, readers)));
    resolved.push(await resolvePage(seen, turns.get(number), batchReaders));
    next = number + 1;
  }
  resolved.push(...(await readMissing(next, last, readers)));
  return resolved;
}

async function setUpright(
  pages: readonly ParsedPage[],
  turns: readonly Turn[],
  { pdfium, bytes, fonts, fontless, withShapes }: Readers,
): Promise<readonly ParsedPage[]> {
  if (turns.length === 0) return pages;
  const upright = await pdfium.readUpright(bytes, turns, { withShapes }).catch(() => []);
  const byNumber = new Map(upright.map((page) => [page.pageNum, withCodes(page, fonts)]));
  const turnsOf = new Map(turns.map((turn) => [turn.page, turn]));
  return pages.map((page) => {
    const [turned, turn] = [byNumber.get(page.pageNum), turnsOf.get(page.pageNum)];
    return turned && turn ? withItems(turned, fontless.onUpright(page, turn)) : page;
  });
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

/** Writes the blocks of pages, without the texts that most of them repeat. */
function createPageWriter(carried: Carried) {
  const furniture = createFurniture();
  const sizes = createBodySize();
  const vocabulary = createVocabulary();
  let written = 0;
  return {
    hasAny: () => written > 0,
    async *write(batch: readonly ResolvedPage[]): AsyncIterable<Block> {
      for (const page of batch) sizes.add(page.pieces);
      const bodySize = sizes.usual();
      const pages = furniture.strip(batch);
      written += pages.length;
      const blocks: Block[] = [];
      for (const page of pages) {
        if (page.plain === undefined) blocks.push(...shownBlocks(page, bodySize));
        else blocks.push({ text: `${tidyPage(page.plain)}\n\n`, place: { page: page.number } });
        blocks.push(...remarkBlocks(page.number, await carried.remarks(page.number)));
      }
      for (const { text } of blocks) vocabulary.add(text);
      yield* joinHyphens(blocks, vocabulary);
    },
  };
}
