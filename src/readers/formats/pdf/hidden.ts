import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { sizeOf, turnBack } from '../pages/native-pieces.js';
import { rasterPages } from '../pages/render/page-rasters.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';
import type { Rectangle } from '../../blocks/location.js';
import { holds } from '../pages/layout/piece.js';
import type { Color } from '../visibility/colors.js';
import type { Unseen } from '../visibility/hidden-counter.js';
import { reasonUnseen, type RunStyle } from '../visibility/reason-unseen.js';
import { colorOfItem, isAllOf, isEven, opacityOfItem, type Size } from './judging/contrast.js';
import { findCovered, type CoveredWord } from './judging/covered.js';

export interface SeenPage {
  readonly page: ParsedPage;
  readonly visible: readonly TextItem[];
  readonly hidden: readonly HiddenItem[];
}

interface HiddenItem {
  readonly text: string;
  readonly reason: Unseen;
}

/** Milliseconds for which the pages of a file are drawn to look for text that nobody sees. */
const MAX_MILLISECONDS = 10_000;

/** The remaining time for drawing pages of one file in search of hidden text. */
export interface LookBudget {
  isSpent(): boolean;
  /** Passes on slowly made items, until they end or the time is spent. */
  take<Item>(items: AsyncIterable<Item>): AsyncIterable<Item>;
}

export function createLookBudget(receipt: ReceiptWriter): LookBudget {
  let left = MAX_MILLISECONDS;
  let isNoted = false;
  const isSpent = (): boolean => {
    if (left <= 0 && !isNoted)
      receipt.addGap('limit', 'Not all pages were looked through for hidden text, which takes too long.');
    isNoted ||= left <= 0;
    return left <= 0;
  };
  return {
    isSpent,
    async *take(items) {
      let started = performance.now();
      for await (const item of items) {
        left -= performance.now() - started;
        yield item;
        if (isSpent()) return;
        started = performance.now();
      }
      left -= performance.now() - started;
    },
  };
}

/**
 * Parts the texts of pages into texts that a reader sees, and texts that are too small, transparent, or of the colour of
 * what is around them, behind them or over them.
 */
export async function findHidden(
  pages: readonly ParsedPage[],
  { areAllDoubtful, ...options }: LookOptions & { readonly areAllDoubtful: boolean },
): Promise<SeenPage[]> {
  const covered = await findCovered(pages, options);
  const unseen = await findUnseen(
    pages.flatMap((page) => {
      const alone = page.textItems.filter((item) => areAllDoubtful || isLight(item));
      const doubts = [...alone.map((item) => ({ word: item, box: item })), ...(covered.get(page) ?? [])];
      return doubts.length > 0 ? [{ page, doubts }] : [];
    }),
    options,
  );
  return pages.map((page) => {
    const words = (covered.get(page) ?? []).filter(({ word }) => unseen.has(word));
    return partPage(page, words, (item) => reasonUnseen(styleOf(item, unseen)));
  });
}

function partPage(
  page: ParsedPage,
  covered: readonly CoveredWord[],
  reasonOf: (item: TextItem) => Unseen | undefined,
): SeenPage {
  const wordsOf = new Map(covered.map(({ item, words }) => [item, words]));
  const unseen = new Set(covered.map(({ word }) => word));
  const visible: TextItem[] = [];
  const hidden: HiddenItem[] = [];
  for (const item of page.textItems) {
    const words = wordsOf.get(item);
    const reason = reasonOf(item);
    if (reason !== undefined) hidden.push({ text: item.text, reason });
    else if (words) {
      const seen = words.filter((word) => !unseen.has(word));
      for (const { text } of words.filter((word) => unseen.has(word)))
        hidden.push({ text, reason: 'background' });
      if (seen.length > 0) visible.push({ ...item, text: seen.map(({ text }) => text).join(' ') });
    } else visible.push(item);
  }
  return { page, visible: hidden.length > 0 ? visible : page.textItems, hidden };
}

/** A text, or a word of one, that may not be seen. */
interface Doubt {
  readonly word: TextItem;
  /** The box to look at. */
  readonly box: Rectangle;
  /** The colour that hides it if nothing else is there; absent where any does. */
  readonly colour?: Color;
}

interface DoubtfulPage {
  readonly page: ParsedPage;
  readonly doubts: readonly Doubt[];
}

/** Finds which of these texts do not stand out in a picture of their page, and why. Dark text alone may be on a layer that is off. */
async function findUnseen(
  pages: readonly DoubtfulPage[],
  { pdfium, bytes, turns, budget }: LookOptions,
): Promise<UnseenTexts> {
  const unseen = new Map<TextItem, 'background' | 'off'>();
  if (pages.length === 0 || budget.isSpent()) return unseen;
  const numbers = pages.map(({ page }) => page.pageNum);
  const fields = await pdfium.readFields(bytes, numbers).catch(() => undefined);
  const looks = pages.flatMap(({ page, doubts }) => {
    const turn = turns.get(page.pageNum);
    const boxes = fields?.get(page.pageNum) ?? [];
    const shown = doubts
      .map((doubt): Doubt => (turn ? { ...doubt, box: turnBack(doubt.box, turn, page) } : doubt))
      .filter(({ box }) => !isWithin(box, boxes));
    return shown.length > 0 ? [{ number: page.pageNum, ...shownSize(page, turn), shown }] : [];
  });
  for await (const [{ shown, ...size }, picture] of budget.take(rasterPages(pdfium, bytes, looks))) {
    const even = shown.filter(({ box, colour }) => colour !== undefined || isEven(picture.green, size, box));
    // Other colours may have the same green, such as yellow and white, or red and black.
    const needsAll = even.some(({ word, colour }) => colour !== undefined || !isLight(word));
    const whole = needsAll ? picture.decode() : picture.green;
    for (const { word, box, colour } of even)
      if (colour === undefined ? isEven(whole, size, box) : isAllOf(whole, size, { box, colour }))
        unseen.set(word, colour !== undefined || isLight(word) ? 'background' : 'off');
  }
  return unseen;
}

type UnseenTexts = ReadonlyMap<TextItem, 'background' | 'off'>;

/** Fields of forms are drawn by the viewer, in its colours. */
const isWithin = (box: Rectangle, fields: readonly Rectangle[]): boolean =>
  fields.some((field) => holds(field, box));

interface LookOptions {
  readonly pdfium: Pdfium;
  readonly bytes: Uint8Array;
  /** The time that is left to look. */
  readonly budget: LookBudget;
  /** The turns that set pages upright. */
  readonly turns: ReadonlyMap<number, Turn>;
}

/** The size of a page as it is shown. */
export function shownSize({ width, height }: Size, turn: Turn | undefined): Size {
  return turn && turn.angle !== 180 ? { width: height, height: width } : { width, height };
}

/** The boxes of letters are higher than their size by up to this factor. Sizes that fonts state may be wrong. */
const MAX_ROOM = 1.3;

/** The style of a text, for the judge of what is seen. @param unseen the texts that do not stand out in a picture of their page */
function styleOf(item: TextItem, unseen: UnseenTexts): RunStyle {
  const reason = unseen.get(item);
  const color = colorOfItem(item.fillColor);
  return {
    off: reason === 'off' ? reason : undefined,
    size: Math.max(sizeOf(item), Math.min(item.height, item.width) / MAX_ROOM),
    opacity: opacityOfItem(item.fillColor),
    color,
    behind: () => (reason === 'background' ? color : undefined),
  };
}

/** Tells whether red, green and blue are all high. */
const isLight = ({ fillColor }: TextItem): boolean =>
  fillColor !== undefined && /^..(?:[ef].){3}/i.test(fillColor);
