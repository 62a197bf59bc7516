import { IngestError } from '../../../../shared/errors.js';
import type { Parser } from '../parser.js';
import { pageBlocks } from '../pdf/layout/page-blocks.js';
import { median } from '../pdf/layout/piece.js';
import { loadPdfium } from '../pdf/pdfium.js';
import { pictureSize } from '../pictures/picture-size.js';
import { createRecognizer } from './recognizer.js';

/** Pictures of more pixels take too much memory. */
const MOST_PIXELS = 40_000_000;
/** Pictures count as pages of 150 dots to the inch. */
const POINTS_PER_PIXEL = 72 / 150;

/** Reads the text in a PNG, JPEG, TIFF or WebP picture by text recognition. */
export const parsePicture: Parser = async function* (bytes, { options, receipt }) {
  const size = pictureSize(bytes);
  if (!size || size.width === 0 || size.height === 0)
    throw new IngestError('corrupt', 'The picture is damaged.');
  const { width, height, pictures } = size;
  if (width * height > MOST_PIXELS)
    throw new IngestError('too_large', 'The picture has more pixels than are read.');
  receipt.setParts('page', pictures);
  if (options.ocr === 'off') {
    receipt.addGap('skipped', 'The file is a picture, and text recognition is off.');
    return;
  }
  const pdfium = await loadPdfium();
  if (!pdfium) {
    receipt.addGap('skipped', 'There is no text recognition for this machine.');
    return;
  }
  receipt.setParser('tesseract', pdfium.version);
  const recognizer = createRecognizer({ pdfium, options, receipt });
  const found = await recognizer.recognize({
    page: 1,
    width: width * POINTS_PER_PIXEL,
    height: height * POINTS_PER_PIXEL,
    picture: () => Promise.resolve(bytes),
  });
  if (recognizer.hasFailed()) throw new IngestError('corrupt', 'The picture is damaged.');
  receipt.addPartRead();
  if (pictures > 1)
    receipt.addGap('skipped', 'Only the first picture of the file is read.', {
      pages: { first: 2, last: pictures },
    });
  if (!found) return;
  const bodySize = median(found.pieces.map((piece) => piece.size));
  yield* pageBlocks({ page: 1, pieces: found.pieces, bodySize });
};
