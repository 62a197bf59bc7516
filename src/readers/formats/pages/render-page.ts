import { ReadError } from '../../read-error.js';
import { isBmp, readableBmp } from '../ocr/bmp.js';
import { isTiff, pagesOfTiff } from '../ocr/tiff.js';
import { pictureOfTiff } from '../ocr/tiff-page.js';
import { passwordNeeded, pdfFailure } from '../pdf/failures.js';
import type { Rectangle } from '../../blocks/location.js';
import { bottomOf, rightOf } from './layout/piece.js';
import { loadPdfium } from './pdfium.js';
import { boundedDpi } from './page-rasters.js';
import { decodePng, encodePng } from '../pictures/png.js';
import { multiply, type Raster } from '../pictures/raster.js';

const DPI = 110;
const MAX_PIXELS = 4_000_000;
const MAX_BOXES = 2_000;
/** The colour of a marker, in red, green and blue. The pixels under it are multiplied by it. */
const MARKER = [255, 232, 92] as const;

/**
 * Renders a page of a PDF, or a picture (a TIFF may hold several), as a PNG with `boxes` marked, which count points from
 * its top left corner.
 * @throws ReadError when it cannot be rendered
 */
export async function renderPage(
  file: Uint8Array,
  number: number,
  boxes: readonly Rectangle[],
): Promise<Uint8Array> {
  const pdfium = await loadPdfium();
  if (!pdfium) throw new ReadError('internal', 'Pages cannot be rendered on this machine.');
  try {
    const { bytes, page } = singlePicture(file, number);
    const size = await pdfium.pageSize(bytes, page);
    if (!size) throw noSuchPage();
    const [shot] = await pdfium.render(bytes, [page], boundedDpi(size, { dpi: DPI, pixels: MAX_PIXELS }));
    if (!shot) throw new ReadError('corrupt', 'The page is damaged.');
    if (boxes.length === 0) return shot.imageBuffer;
    const raster = decodePng(shot.imageBuffer);
    const scale = { x: raster.width / size.width, y: raster.height / size.height };
    for (const box of boxes.slice(0, MAX_BOXES)) mark(raster, box, scale);
    return encodePng(raster);
  } catch (error) {
    throw error instanceof Error && /password/i.test(error.message)
      ? passwordNeeded(error)
      : pdfFailure(error);
  }
}

const noSuchPage = (): ReadError => new ReadError('corrupt', 'The document has no such page.');

/** PDFium sees the first picture of a TIFF alone, none that is a fax, and no BMP of OS/2. */
function singlePicture(bytes: Uint8Array, page: number): { bytes: Uint8Array; page: number } {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isBmp(file)) return { bytes: readableBmp(file), page };
  if (!isTiff(file)) return { bytes, page };
  const picture = pagesOfTiff(file).pages[page - 1];
  if (!picture) throw noSuchPage();
  return { bytes: pictureOfTiff(Buffer.from(file), picture), page: 1 };
}

function mark(raster: Raster, box: Rectangle, scale: { x: number; y: number }): void {
  const left = Math.floor(box.x * scale.x) - 1;
  const right = Math.ceil(rightOf(box) * scale.x);
  const top = Math.floor(box.y * scale.y) - 1;
  const bottom = Math.ceil(bottomOf(box) * scale.y);
  multiply(raster, { left, right, top, bottom }, MARKER);
}
