import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../../receipt/receipt-writer.js';
import { holds } from '../../pages/layout/piece.js';
import { turnBack } from '../../pages/native-pieces.js';
import type { Pdfium, Turn } from '../../pages/pdfium.js';
import { mayName } from '../judging/names.js';
import type { createPageObjects } from '../judging/page-objects.js';
import { isEncrypted } from '../judging/streams.js';
import type { SecondReader } from '../pdfjs/second-reader.js';
import { withItems } from '../with-items.js';
import { charactersOf, type WorkBudget } from '../work-budgets.js';
import type { DrawnCharacter } from './drawn-characters.js';
import { lackedCollections, type Collection } from './machine-fonts.js';
import { parted, textsOf } from './runs.js';

const LOST = 'Characters in fonts that are neither in the file nor on this machine may have been left out.';
/** The time for reading the words of a page, and for comparing so many pairs of characters and words, in characters. */
const WORDS = { page: 5_000, pairs: 400 };
/** The number of them that are put into a page. */
const MAX_CHARACTERS = 20_000;
const COLLECTIONS: readonly Collection[] = ['Japan1', 'GB1', 'CNS1', 'Korea1'];

interface Source {
  readonly pdfium: Pick<Pdfium, 'readWords'>;
  readonly bytes: Uint8Array;
  readonly second: Pick<SecondReader, 'fontless' | 'object'>;
  readonly objects: Pick<ReturnType<typeof createPageObjects>, 'fontsWithoutFile'>;
  readonly receipt: ReceiptWriter;
  readonly budget: WorkBudget;
}

export type Fontless = ReturnType<typeof createFontless>;

/**
 * Puts back Chinese, Japanese and Korean characters that PDFium leaves out, since their font is neither in the file nor on
 * this machine: it gives no text without a width, which is any character that is drawn by itself or from top to bottom. A
 * gap names pages where they may be missing.
 */
export function createFontless({ pdfium, bytes, second, objects, receipt, budget }: Source) {
  const isWanted = mayUseCollection(bytes);
  const added = new Map<number, readonly TextItem[]>();
  const undrawn = new Set<string>();
  const addGap = (page: number): void =>
    receipt.addGap('garbled', LOST, { pages: { first: page, last: page } });
  const readPage = async (page: ParsedPage): Promise<ParsedPage> => {
    const { pageNum: number } = page;
    const fonts = objects.fontsWithoutFile(await second.object(number));
    if (fonts?.size === 0) return page;
    const isLacking = await lacksFont(pdfium, bytes);
    if (isLacking) for (const font of fonts ?? []) undrawn.add(font);
    if (budget.isSpent() && isLacking) budget.miss(number);
    if (budget.isSpent()) return page;
    const source = { pdfium, bytes, second, budget };
    const lost = await budget.during(() => lookFor(page, source)).catch(() => undefined);
    // Where fonts cannot be told, as in an encrypted file, the page may use none of them.
    const mayBeLost = lost ? lost.isCut : isLacking && (fonts !== undefined || added.size > 0);
    if (mayBeLost) addGap(number);
    if (!lost || lost.characters.length === 0) return page;
    for (const { font } of lost.characters) undrawn.add(font);
    const items = textsOf(lost.characters);
    added.set(number, items);
    return withItems(parted(page, items, lost.items), items);
  };
  return {
    /** The names of fonts whose characters are not seen in pictures of pages that this machine draws. */
    undrawn,
    async find(pages: readonly ParsedPage[]): Promise<readonly ParsedPage[]> {
      if (!isWanted) return pages;
      return await inTurn(pages, readPage);
    },
    /** The same texts on a page that was set upright. @param page the page as it is shown */
    onUpright({ pageNum, width, height }: ParsedPage, { angle }: Turn): TextItem[] {
      const back = BACK[angle];
      return (added.get(pageNum) ?? []).map((item) => ({
        ...item,
        ...turnBack(item, { angle: back }, { width, height }),
        rotation: ((item.rotation ?? 0) + back) % 360,
      }));
    },
  };
}

async function inTurn<Item>(items: readonly Item[], change: (item: Item) => Promise<Item>): Promise<Item[]> {
  const changed: Item[] = [];
  for (const item of items) changed.push(await change(item));
  return changed;
}

/** The turns that undo others. */
const BACK = { 90: 270, 180: 180, 270: 90 } as const;

/** Tells whether a file may name a collection of Chinese, Japanese or Korean characters. */
const mayUseCollection = (bytes: Uint8Array): boolean =>
  mayName(bytes, COLLECTIONS.map(nameOf)) || (isEncrypted(bytes) && bytesOf(bytes).includes('/CIDFontType'));

const nameOf = (collection: Collection): `(${Collection})` => `(${collection})`;

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Tells whether the machine has no font for a collection that a file may use. */
async function lacksFont(pdfium: Pick<Pdfium, 'readWords'>, bytes: Uint8Array): Promise<boolean> {
  const lacked = [...(await lackedCollections(pdfium))];
  return lacked.length > 0 && (isEncrypted(bytes) || mayName(bytes, lacked.map(nameOf)));
}

interface Found {
  readonly characters: readonly DrawnCharacter[];
  /** The texts of the page with their words. */
  readonly items: readonly TextItem[];
  /** True if there are more characters than these. */
  readonly isCut: boolean;
}

/** Returns the characters of a page that PDFium has left out; undefined when that cannot be told. */
async function lookFor(
  page: ParsedPage,
  { pdfium, bytes, second, budget }: Pick<Source, 'pdfium' | 'bytes' | 'second' | 'budget'>,
): Promise<Found | undefined> {
  const known = page.textItems.map(({ text }) => text);
  budget.spend(charactersOf(page));
  const drawn = await second.fontless(page.pageNum, known);
  if (!drawn) return undefined;
  budget.spend(drawn.operators);
  const shown = drawn.characters.filter(({ box }) => holds({ ...page, x: 0, y: 0 }, box));
  if (shown.length === 0) return { characters: [], items: [], isCut: false };
  budget.spend(WORDS.page);
  const items = (await pdfium.readWords(bytes, [page.pageNum])).get(page.pageNum) ?? [];
  const words = items.flatMap((item) => item.words ?? [item]);
  const sought = shown.slice(0, MAX_CHARACTERS);
  budget.spend((sought.length * words.length) / WORDS.pairs);
  const lost = sought.filter(({ box }) => !words.some((word) => holds(word, box)));
  return { characters: lost, items, isCut: shown.length > MAX_CHARACTERS };
}
