import type { ScreenshotResult } from '@llamaindex/liteparse';
import { decodeGreen, decodePng } from '../pictures/png.js';
import type { Raster } from '../pictures/raster.js';
import type { Pdfium } from './pdfium.js';

/** Larger pages are looked at with fewer dots to the inch. */
const MAX_PIXELS = 4_000_000;
/** Pages that are rendered by one call, which opens the file anew. */
const PAGES_AT_ONCE = 10;

interface ShownPage {
  readonly number: number;
  /** Its size as it is shown, in points. */
  readonly width: number;
  readonly height: number;
}

/** A picture of a page, with a pixel for each point where that is not too many. */
export interface PagePicture {
  /** The green of its pixels, which takes a third of the time. */
  readonly green: Raster;
  /** All colours. */
  decode(): Raster;
  /** The bytes of the picture as it is packed. */
  readonly packedBytes: number;
}

/** Pages with their pictures. Pages that cannot be rendered are left out. */
export async function* rasterPages<Page extends ShownPage>(
  pdfium: Pdfium,
  bytes: Uint8Array,
  pages: readonly Page[],
): AsyncGenerator<readonly [Page, PagePicture]> {
  for (const [dpi, group] of groupByDpi(pages))
    for (let at = 0; at < group.length; at += PAGES_AT_ONCE) {
      const some = group.slice(at, at + PAGES_AT_ONCE);
      const pictures = await renderEach(
        some.map(({ number }) => number),
        (numbers) => pdfium.render(bytes, numbers, dpi),
      );
      for (const page of some) {
        const picture = open(pictures.get(page.number));
        if (picture) yield [page, picture];
      }
    }
}

function groupByDpi<Page extends ShownPage>(pages: readonly Page[]): Map<number, Page[]> {
  const groups = new Map<number, Page[]>();
  for (const page of pages) {
    const dpi = boundedDpi(page, { dpi: 72, pixels: MAX_PIXELS });
    const group = groups.get(dpi);
    if (group) group.push(page);
    else groups.set(dpi, [page]);
  }
  return groups;
}

/** Renders all at once, or one by one where that fails. */
async function renderEach(
  numbers: readonly number[],
  render: (numbers: readonly number[]) => Promise<readonly ScreenshotResult[]>,
): Promise<ReadonlyMap<number, Uint8Array>> {
  const shots = await render(numbers).catch(() => undefined);
  if (shots) return new Map(shots.map(({ pageNum, imageBuffer }) => [pageNum, imageBuffer]));
  const pictures = new Map<number, Uint8Array>();
  if (numbers.length > 1)
    for (const number of numbers)
      for (const [, picture] of await renderEach([number], render)) pictures.set(number, picture);
  return pictures;
}

function open(picture: Uint8Array | undefined): PagePicture | undefined {
  try {
    return (
      picture && {
        green: decodeGreen(picture),
        decode: () => decodePng(picture),
        packedBytes: picture.length,
      }
    );
  } catch {
    return undefined;
  }
}

/** Returns the resolution that is asked for, as far as it is allowed for a page of this size in points. */
export function boundedDpi(
  { width, height }: { readonly width: number; readonly height: number },
  { dpi, pixels }: { dpi: number; pixels: number },
): number {
  const most = 72 * Math.sqrt(pixels / Math.max(1, width * height));
  return Math.max(1, Math.min(dpi, Math.floor(most)));
}
