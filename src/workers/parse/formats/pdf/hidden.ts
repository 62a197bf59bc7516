import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { inflateSync } from 'node:zlib';
import { boxOf, sizeOf } from './native-pieces.js';
import { decodePng, type Raster } from './png.js';
import type { Pdfium } from './pdfium.js';
import type { Rectangle } from './layout/piece.js';

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
  { pdfium, bytes }: { pdfium: Pdfium; bytes: Uint8Array },
): Promise<SeenPage[]> {
  const seen: SeenPage[] = [];
  for (const page of pages) {
    const doubtful = page.textItems.filter((item) => isLight(item));
    const raster = doubtful.length > 0 ? await look(page, { pdfium, bytes }) : undefined;
    const isHidden = (item: TextItem): boolean =>
      isTiny(item) ||
      isTransparent(item) ||
      (raster !== undefined && isLight(item) && contrast(raster, page, boxOf(item)) < LEAST_CONTRAST);
    seen.push({
      page,
      visible: page.textItems.filter((item) => !isHidden(item)),
      hidden: page.textItems.filter(isHidden),
    });
  }
  return seen;
}

function isTiny(item: TextItem): boolean {
  return sizeOf(item) < SMALLEST && Math.min(item.height, item.width) < SMALLEST * 1.3;
}

/** Colours are written as eight hexadecimal digits: alpha, red, green, blue. */
const isTransparent = ({ fillColor }: TextItem): boolean => fillColor !== undefined && /^[01]/.test(fillColor);

/** Tells whether red, green and blue are all high. */
const isLight = ({ fillColor }: TextItem): boolean =>
  fillColor !== undefined && /^..(?:[ef].){3}/i.test(fillColor);

async function look(
  { pageNum, width, height }: ParsedPage,
  { pdfium, bytes }: { pdfium: Pdfium; bytes: Uint8Array },
): Promise<Raster | undefined> {
  try {
    const shots = await pdfium.render(bytes, [pageNum], boundedDpi({ width, height }, { dpi: 72, pixels: MOST_PIXELS }));
    return shots[0] ? decodePng(shots[0].imageBuffer) : undefined;
  } catch {
    return undefined;
  }
}

/** As many dots to the inch as are asked for and allowed for a page of this size in points. */
export function boundedDpi(
  { width, height }: { width: number; height: number },
  { dpi, pixels }: { dpi: number; pixels: number },
): number {
  const most = 72 * Math.sqrt(pixels / Math.max(1, width * height));
  return Math.max(1, Math.min(dpi, Math.floor(most)));
}

/** The largest difference of brightness within a rectangle of a page, from 0 to 255. */
function contrast(raster: Raster, page: { width: number; height: number }, box: Rectangle): number {
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const left = Math.max(0, Math.floor(box.x * across));
  const right = Math.min(raster.width - 1, Math.ceil((box.x + box.width) * across));
  const top = Math.max(0, Math.floor(box.y * down));
  const bottom = Math.min(raster.height - 1, Math.ceil((box.y + box.height) * down));
  let darkest = 255;
  let lightest = 0;
  for (let y = top; y <= bottom; y += 1)
    for (let x = left; x <= right; x += 1) {
      const value = raster.pixels[(y * raster.width + x) * raster.channels + (raster.channels > 1 ? 1 : 0)] ?? 0;
      darkest = Math.min(darkest, value);
      lightest = Math.max(lightest, value);
    }
  return lightest - darkest;
}

/** Most bytes that are inflated in search of invisible text. */
const MOST_INFLATED = 64 * 1024 * 1024;
const LARGEST_STREAM = 8 * 1024 * 1024;

/** Tells whether a file may switch to invisible text (`3 Tr`), which PDFium leaves out. */
export function mayHoldInvisibleText(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.includes('/Encrypt')) return false;
  let inflated = 0;
  for (let at = file.indexOf('stream'); at >= 0 && inflated < MOST_INFLATED; ) {
    const start = at + 6 + (file[at + 6] === 0x0d ? 2 : 1);
    const end = file.indexOf('endstream', start);
    if (end < 0) return false;
    const header = file.toString('latin1', Math.max(0, at - 300), at);
    const entries = header.slice(header.lastIndexOf('obj') + 3);
    if (!/\/(?:Image|FontFile|Length1|XRef|ObjStm)\b/.test(entries)) {
      const content = contentOf(file.subarray(start, end), entries);
      inflated += content.length;
      if (setsInvisible(content)) return true;
    }
    at = file.indexOf('stream', end + 9);
  }
  return false;
}

const setsInvisible = (content: Buffer): boolean => /\b[37]\s{1,4}Tr\b/.test(content.toString('latin1'));

function contentOf(stream: Buffer, entries: string): Buffer {
  if (!entries.includes('/FlateDecode')) return stream.subarray(0, LARGEST_STREAM);
  try {
    return inflateSync(stream, { maxOutputLength: LARGEST_STREAM });
  } catch {
    return Buffer.alloc(0);
  }
}
