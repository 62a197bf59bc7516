import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { sizeOf, turnBack } from './native-pieces.js';
import { decodePng, type Raster } from './render/png.js';
import type { Pdfium, Turn } from './pdfium.js';
import { holds, type Rectangle } from './layout/piece.js';

/** Text that is smaller, in points, cannot be read by eye. */
const SMALLEST = 2;
/** Text differs from what is around it by less when nobody sees it. */
const LEAST_CONTRAST = 24;
/** Larger pages are looked at with fewer dots to the inch. */
const MOST_PIXELS = 4_000_000;

export interface SeenPage {
  readonly page: ParsedPage;
  readonly visible: readonly TextItem[];
  readonly hidden: readonly TextItem[];
}

/** Parts the texts of pages into those that a reader sees and those too small, transparent, or of the colour of the paper. */
export async function findHidden(
  pages: readonly ParsedPage[],
  { mayBeInvisible, ...options }: LookOptions & { readonly mayBeInvisible: boolean },
): Promise<SeenPage[]> {
  const seen: SeenPage[] = [];
  for (const page of pages) {
    const turn = options.turns.get(page.pageNum);
    const doubtful = new Set(
      page.textItems.filter((item) => (mayBeInvisible || isLight(item)) && !isInField(item, page)),
    );
    const raster = doubtful.size > 0 ? await look(page, options) : undefined;
    const isUnseen = (item: TextItem): boolean => {
      if (!raster || !doubtful.has(item)) return false;
      return (
        contrast(raster, shownSize(page, turn), turn ? turnBack(item, turn, page) : item) < LEAST_CONTRAST
      );
    };
    const hidden = new Set(
      page.textItems.filter((item) => isTiny(item) || isTransparent(item) || isUnseen(item)),
    );
    seen.push({
      page,
      visible: page.textItems.filter((item) => !hidden.has(item)),
      hidden: [...hidden],
    });
  }
  return seen;
}

interface LookOptions {
  readonly pdfium: Pdfium;
  readonly bytes: Uint8Array;
  /** How pages were set upright. */
  readonly turns: ReadonlyMap<number, Turn>;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of a page as it is shown. */
export function shownSize({ width, height }: Size, turn: Turn | undefined): Size {
  return turn && turn.angle !== 180 ? { width: height, height: width } : { width, height };
}

/** Fields of forms are drawn by the viewer, in its colours. */
function isInField(item: TextItem, { formFields = [] }: ParsedPage): boolean {
  return formFields.some(({ rect }) => rect !== undefined && holds(rect, item));
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

async function look(page: ParsedPage, { pdfium, bytes, turns }: LookOptions): Promise<Raster | undefined> {
  const { pageNum } = page;
  const size = shownSize(page, turns.get(pageNum));
  try {
    const [shot] = await pdfium.render(bytes, [pageNum], boundedDpi(size, { dpi: 72, pixels: MOST_PIXELS }));
    return shot ? decodePng(shot.imageBuffer) : undefined;
  } catch {
    return undefined;
  }
}

/** As many dots to the inch as are asked for and allowed for a page of this size in points. */
export function boundedDpi(
  { width, height }: Size,
  { dpi, pixels }: { dpi: number; pixels: number },
): number {
  const most = 72 * Math.sqrt(pixels / Math.max(1, width * height));
  return Math.max(1, Math.min(dpi, Math.floor(most)));
}

/** The largest difference of brightness within a rectangle of a page, from 0 to 255. */
function contrast(raster: Raster, page: Size, box: Rectangle): number {
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const left = Math.max(0, Math.floor(box.x * across));
  const right = Math.min(raster.width - 1, Math.ceil((box.x + box.width) * across));
  const top = Math.max(0, Math.floor(box.y * down));
  const bottom = Math.min(raster.height - 1, Math.ceil((box.y + box.height) * down));
  let darkest = 255;
  let lightest = 0;
  for (let y = top; y <= bottom; y += 1)
    for (let x = left; x <= right; x += 1) {
      const value =
        raster.pixels[(y * raster.width + x) * raster.channels + (raster.channels > 1 ? 1 : 0)] ?? 0;
      darkest = Math.min(darkest, value);
      lightest = Math.max(lightest, value);
    }
  return lightest - darkest;
}
