import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import { sizeOf, turnBack } from '../pages/native-pieces.js';
import { rasterPages } from '../pages/render/page-rasters.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';
import type { Rectangle } from '../../../../shared/extraction/location.js';
import { holds } from '../pages/layout/piece.js';
import { contrast, type Size } from './judging/contrast.js';

/** Text that is smaller, in points, cannot be read by eye. */
const SMALLEST = 2;
/** Text differs from what is around it by less when nobody sees it. */
const LEAST_CONTRAST = 24;

export interface SeenPage {
  readonly page: ParsedPage;
  readonly visible: readonly TextItem[];
  readonly hidden: readonly TextItem[];
}

/** Milliseconds for which the pages of a file are drawn to look for text that nobody sees. */
const MOST_MILLISECONDS = 10_000;

/** How long the pages of one file may still be drawn in search of hidden text. */
export interface LookBudget {
  isSpent(): boolean;
  /** Passes on what takes time, until it ends or the time is spent. */
  take<Item>(items: AsyncIterable<Item>): AsyncIterable<Item>;
}

export function createLookBudget(receipt: ReceiptWriter): LookBudget {
  let left = MOST_MILLISECONDS;
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

/** Parts the texts of pages into those that a reader sees and those too small, transparent, or of the colour of the paper. */
export async function findHidden(
  pages: readonly ParsedPage[],
  { areAllDoubtful, ...options }: LookOptions & { readonly areAllDoubtful: boolean },
): Promise<SeenPage[]> {
  const unseen = await findUnseen(
    pages.flatMap((page) => {
      const doubtful = page.textItems.filter((item) => areAllDoubtful || isLight(item));
      return doubtful.length > 0 ? [{ page, doubtful }] : [];
    }),
    options,
  );
  return pages.map((page) => {
    const hidden = new Set(
      page.textItems.filter((item) => isTiny(item) || isTransparent(item) || unseen.has(item)),
    );
    if (hidden.size === 0) return { page, visible: page.textItems, hidden: [] };
    return {
      page,
      visible: page.textItems.filter((item) => !hidden.has(item)),
      hidden: [...hidden],
    };
  });
}

interface DoubtfulPage {
  readonly page: ParsedPage;
  readonly doubtful: readonly TextItem[];
}

/** Finds which of these texts do not stand out in a picture of their page. */
async function findUnseen(
  pages: readonly DoubtfulPage[],
  { pdfium, bytes, turns, budget }: LookOptions,
): Promise<ReadonlySet<TextItem>> {
  const unseen = new Set<TextItem>();
  if (pages.length === 0 || budget.isSpent()) return unseen;
  const numbers = pages.map(({ page }) => page.pageNum);
  const fields = await pdfium.readFields(bytes, numbers).catch(() => undefined);
  const looks = pages.flatMap(({ page, doubtful }) => {
    const turn = turns.get(page.pageNum);
    const boxes = fields?.get(page.pageNum) ?? [];
    const shown = doubtful
      .map((item) => ({ item, box: turn ? turnBack(item, turn, page) : item }))
      .filter(({ box }) => !isWithin(box, boxes));
    return shown.length > 0 ? [{ number: page.pageNum, ...shownSize(page, turn), shown }] : [];
  });
  for await (const [{ shown, ...size }, picture] of budget.take(rasterPages(pdfium, bytes, looks))) {
    const faint = shown.filter(({ box }) => contrast(picture.green, size, box) < LEAST_CONTRAST);
    // Colours may have the same green, such as yellow and white, or red and black.
    const whole = faint.length > 0 ? picture.decode() : picture.green;
    for (const { item, box } of faint) if (contrast(whole, size, box) < LEAST_CONTRAST) unseen.add(item);
  }
  return unseen;
}

/** Fields of forms are drawn by the viewer, in its colours. */
const isWithin = (box: Rectangle, fields: readonly Rectangle[]): boolean =>
  fields.some((field) => holds(field, box));

interface LookOptions {
  readonly pdfium: Pdfium;
  readonly bytes: Uint8Array;
  /** The time that is left to look. */
  readonly budget: LookBudget;
  /** How pages were set upright. */
  readonly turns: ReadonlyMap<number, Turn>;
}

/** The size of a page as it is shown. */
export function shownSize({ width, height }: Size, turn: Turn | undefined): Size {
  return turn && turn.angle !== 180 ? { width: height, height: width } : { width, height };
}

function isTiny(item: TextItem): boolean {
  return sizeOf(item) < SMALLEST && Math.min(item.height, item.width) < SMALLEST * 1.3;
}

/** Colours are written as eight hexadecimal digits: alpha, red, green, blue. */
const isTransparent = ({ fillColor }: TextItem): boolean =>
  fillColor !== undefined && /^[01]/.test(fillColor);

/** Tells whether red, green and blue are all high. */
const isLight = ({ fillColor }: TextItem): boolean =>
  fillColor !== undefined && /^..(?:[ef].){3}/i.test(fillColor);
