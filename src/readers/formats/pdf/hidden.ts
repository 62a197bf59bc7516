import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { itemKey, sizeOf, turnBack } from '../pages/native-pieces.js';
import { rasterPages, type PagePicture } from '../pages/page-rasters.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';
import type { Rectangle } from '../../blocks/location.js';
import { holds, bottomOf, rightOf } from '../pages/layout/piece.js';
import { areAlike, hexColor, partsOf, type Color } from '../visibility/colors.js';
import type { Unseen } from '../visibility/hidden-counter.js';
import { MAX_UNSEEN_OPACITY, reasonUnseen, type RunStyle } from '../visibility/reason-unseen.js';
import { rangesIn, type Raster } from '../pictures/raster.js';
import type { WorkBudget } from './work-budgets.js';
import { at } from '../../../shared/at.js';

export interface SeenPage {
  readonly page: ParsedPage;
  readonly visible: readonly TextItem[];
  readonly hidden: readonly HiddenItem[];
}

interface HiddenItem {
  readonly text: string;
  readonly reason: Unseen;
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
  const doubtful = pages.flatMap((page) => {
    const alone = page.textItems.filter((item) => areAllDoubtful || isPale(item));
    const doubts = [
      ...alone.map((item) => ({ word: item, box: item, ...ownColor(item, options) })),
      ...(covered.get(page) ?? []),
    ];
    return doubts.length > 0 ? [{ page, doubts }] : [];
  });
  const unseen = await options.budget.during(() => findUnseen(doubtful, options));
  return pages.map((page) => {
    const words = (covered.get(page) ?? []).filter(({ word }) => unseen.has(word));
    return partPage(page, words, (item) => reasonUnseen(styleOf(item, unseen)));
  });
}

/** The colour that would hide a text whose letters are not in the picture, since the machine has no font for them. */
function ownColor({ fontName, fillColor }: TextItem, { undrawn }: LookOptions): Pick<Doubt, 'color'> {
  const color = fontName !== undefined && undrawn.has(fontName) ? colorOfItem(fillColor) : undefined;
  return color === undefined ? {} : { color };
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
      // A word passes the other reasons of `reasonUnseen` as the whole text does, and the picture has shown its colour alone.
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
  readonly color?: Color;
}

interface DoubtfulPage {
  readonly page: ParsedPage;
  readonly doubts: readonly Doubt[];
}

/** Finds which of these texts do not stand out in a picture of their page, and why. Text that is not pale may be on a layer that is off. */
async function findUnseen(
  pages: readonly DoubtfulPage[],
  { pdfium, bytes, turns, budget }: LookOptions,
): Promise<UnseenTexts> {
  const unseen = new Map<TextItem, 'background' | 'off'>();
  const numbers = pages.map(({ page }) => page.pageNum);
  if (budget.isSpent()) for (const number of numbers) budget.miss(number);
  if (numbers.length === 0 || budget.isSpent()) return unseen;
  const fields = await pdfium.readFields(bytes, numbers).catch(() => undefined);
  const looks = pages.flatMap(({ page, doubts }) => {
    const turn = turns.get(page.pageNum);
    const boxes = fields?.get(page.pageNum) ?? [];
    const shown = doubts
      .map((doubt): Doubt => (turn ? { ...doubt, box: turnBack(doubt.box, turn, page) } : doubt))
      .filter(({ box }) => !isInField(box, boxes));
    return shown.length > 0 ? [{ number: page.pageNum, ...shownSize(page, turn), shown }] : [];
  });
  for await (const [{ shown, ...size }, picture] of within(
    budget,
    rasterPages(pdfium, bytes, looks),
    looks,
  )) {
    const even = shown.filter(({ box, color }) => color !== undefined || isEven(picture.green, size, box));
    // Other colours may have the same green, such as yellow and white, or red and black.
    const needsAll = even.some(({ word, color }) => color !== undefined || !isLight(word));
    const whole = needsAll ? picture.decode() : picture.green;
    for (const { word, box, color } of even)
      if (color === undefined ? isEven(whole, size, box) : isAllOf(whole, size, { box, color }))
        unseen.set(word, color !== undefined || isPale(word) ? 'background' : 'off');
  }
  return unseen;
}

type UnseenTexts = ReadonlyMap<TextItem, 'background' | 'off'>;

/** Fields of forms are drawn by the viewer, in its colours. */
const isInField = (box: Rectangle, fields: readonly Rectangle[]): boolean =>
  fields.some((field) => holds(field, box));

interface LookOptions {
  readonly pdfium: Pdfium;
  readonly bytes: Uint8Array;
  /** The pixels that may be drawn. */
  readonly budget: WorkBudget;
  /** The turns that set pages upright. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The names of fonts whose letters are not in pictures of pages. */
  readonly undrawn: ReadonlySet<string>;
}

/** The pixels that take as long as a page without any, and as a byte of its picture: the more is drawn, the more bytes. */
const PIXELS = { page: 1_000_000, byte: 4 };

/** Passes on pages as they are drawn, until they end or the work is done; then the others of `all` are noted. */
async function* within<Page extends { readonly number: number }>(
  budget: WorkBudget,
  drawn: AsyncIterable<readonly [Page, PagePicture]>,
  all: readonly Page[],
): AsyncIterable<readonly [Page, PagePicture]> {
  const rest = new Set(all.map(({ number }) => number));
  for await (const each of drawn) {
    const [{ number }, { green, packedBytes }] = each;
    budget.spend(PIXELS.page + green.width * green.height + PIXELS.byte * packedBytes);
    rest.delete(number);
    yield each;
    if (budget.isSpent()) break;
  }
  if (budget.isSpent()) for (const number of rest) budget.miss(number);
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

/**
 * Text of less opacity may differ too little from what is behind it: black on white by 32 of 255. Watermarks have more as a
 * rule, so that no page is drawn for them.
 */
const MAX_PALE_OPACITY = 0.125;

/** Tells whether text may not stand out from a light page. */
function isPale(item: TextItem): boolean {
  const opacity = opacityOfItem(item.fillColor) ?? 1;
  return isLight(item) || (opacity < MAX_PALE_OPACITY && opacity > MAX_UNSEEN_OPACITY);
}

/** Tells whether red, green and blue are all high. */
const isLight = ({ fillColor }: TextItem): boolean =>
  fillColor !== undefined && /^..(?:[ef].){3}/i.test(fillColor);

/** More shapes of a page are not compared with its texts. */
const MAX_SHAPES = 2_000;
/** A shape that covers less of a word does not hide it. */
const MIN_COVERED = 0.5;

/** A word, or a whole text, that a shape of its own colour may hide. Its box is the part that the shape covers. */
interface CoveredWord extends Doubt {
  /** The text that the word is part of. */
  readonly item: TextItem;
  /** All words of that text. */
  readonly words: readonly TextItem[];
}

interface Cover {
  readonly box: Rectangle;
  readonly color: Color;
}

/** The words of texts that shapes of their own colours may hide, whichever was drawn first. */
async function findCovered(
  pages: readonly ParsedPage[],
  { pdfium, bytes }: { readonly pdfium: Pick<Pdfium, 'readWords'>; readonly bytes: Uint8Array },
): Promise<ReadonlyMap<ParsedPage, readonly CoveredWord[]>> {
  const touched = new Map<ParsedPage, (readonly [TextItem, readonly Cover[]])[]>();
  for (const page of pages) {
    const covers = coversOf(page);
    const items = page.textItems.flatMap((item) => {
      const upon = covers.filter((cover) => mayHide(cover, item));
      return upon.length > 0 ? [[item, upon] as const] : [];
    });
    if (items.length > 0) touched.set(page, items);
  }
  if (touched.size === 0) return new Map();
  const numbers = [...touched.keys()].map(({ pageNum }) => pageNum);
  const words = await pdfium.readWords(bytes, numbers).catch(() => undefined);
  return new Map(
    [...touched].map(([page, items]) => {
      const found = new Map((words?.get(page.pageNum) ?? []).map((item) => [itemKey(item), item]));
      return [page, items.flatMap((each) => coveredWords(each, found.get(itemKey(each[0]))))];
    }),
  );
}

function coversOf({ vectorGraphics }: ParsedPage): Cover[] {
  return (vectorGraphics?.shapes ?? [])
    .flatMap(({ fill, fillColor = '', bbox }) => {
      // Other shapes are translucent.
      const color = fill && fillColor.startsWith('ff') ? colorOfItem(fillColor) : undefined;
      return color === undefined ? [] : [{ box: bbox, color }];
    })
    .slice(0, MAX_SHAPES);
}

/** Tells whether a shape of the text's colour covers at least a letter of it. Lines under texts and through them do not. */
function mayHide({ box, color }: Cover, item: TextItem): boolean {
  const half = Math.min(item.width, item.height) / 2;
  if (box.width < half || box.height < half) return false;
  const { width, height } = common(box, item);
  const own = colorOfItem(item.fillColor);
  return width >= half && height >= half && own !== undefined && areAlike(color, own);
}

function coveredWords(
  [item, covers]: readonly [TextItem, readonly Cover[]],
  { words = [] }: Pick<TextItem, 'words'> = {},
): CoveredWord[] {
  const parts = words.length > 1 ? words.map((word): TextItem => ({ ...item, ...word })) : [item];
  return parts.flatMap((word) =>
    covers.flatMap(({ box, color }) => {
      const covered = common(box, word);
      const isCovered = areaOf(covered) > areaOf(word) * MIN_COVERED;
      return isCovered ? [{ item, words: parts, word, box: covered, color }] : [];
    }),
  );
}

const areaOf = ({ width, height }: Rectangle): number => Math.max(0, width) * Math.max(0, height);

/** Returns the intersection of two rectangles; of a negative width or height when they do not meet. */
function common(one: Rectangle, other: Rectangle): Rectangle {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const width = Math.min(rightOf(one), rightOf(other)) - x;
  const height = Math.min(bottomOf(one), bottomOf(other)) - y;
  return { x, y, width, height };
}

type Size = Pick<Rectangle, 'width' | 'height'>;

/**
 * Nobody tells letters of a drawn page apart where red, green and blue all differ by less. This is more than between two
 * colours that a file states, since a picture has more than them: faint patterns of the page, and the smoothed edges of
 * letters.
 */
const MIN_CONTRAST = 24;

/** Tells whether nothing can be told apart within a rectangle of a page, its edges included. */
function isEven(raster: Raster, page: Size, { x, y, width, height }: Rectangle): boolean {
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const ranges = rangesIn(raster, {
    left: Math.floor(x * across),
    right: Math.ceil((x + width) * across),
    top: Math.floor(y * down),
    bottom: Math.ceil((y + height) * down),
  });
  return ranges.every(([darkest, lightest]) => lightest - darkest < MIN_CONTRAST);
}

/** Tells whether all that is wholly within the box of a doubt has nearly this colour, and there is something. */
function isAllOf(
  raster: Raster,
  page: Size,
  { box: { x, y, width, height }, color }: { readonly box: Rectangle; readonly color: Color },
): boolean {
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const parts = partsOf(color);
  const ranges = rangesIn(raster, {
    left: Math.ceil(x * across),
    right: Math.floor((x + width) * across) - 1,
    top: Math.ceil(y * down),
    bottom: Math.floor((y + height) * down) - 1,
  });
  return ranges.every(([darkest, lightest], channel) => {
    const part = at(parts, channel);
    return darkest <= lightest && part - darkest < MIN_CONTRAST && lightest - part < MIN_CONTRAST;
  });
}

/** The colour of eight hexadecimal digits: alpha, red, green, blue. */
const colorOfItem = (digits: string | undefined): Color | undefined => hexColor(digits?.slice(2));

/** The opacity of such a colour, from 0 to 1. */
const opacityOfItem = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number.parseInt(digits.slice(0, 2), 16) / 255;
