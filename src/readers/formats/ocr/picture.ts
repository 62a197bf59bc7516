import { ReadError } from '../../read-error.js';
import type { Parser, ReadContext } from '../../parser.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { median } from '../pages/layout/piece.js';
import { joinHyphens } from '../pages/layout/hyphens.js';
import { createVocabulary } from '../pages/layout/vocabulary.js';
import { loadPdfium } from '../pages/pdfium.js';
import { shownBlocks } from '../pages/shown-blocks.js';
import { pictureSize, POINTS_PER_PIXEL, tiffSize, type PictureSize } from './picture-size.js';
import { isBmp, readableBmp } from './bmp.js';
import { isAnimated, isGif } from './gif.js';
import { createRecognizer, type Recognizer } from './recognizer.js';
import { isTiff, pagesOfTiff } from './tiff.js';
import { pictureOfTiff, unreadCompression } from './tiff-page.js';

/** Pictures of more pixels take too much memory. */
const MAX_PIXELS = 40_000_000;
const NO_SIZE: PictureSize = { width: 0, height: 0, angle: 0 };

interface Picture {
  /** Zero when it is damaged. */
  readonly size: PictureSize;
  /** A file of this picture alone. @throws when it is damaged */
  readonly file: () => Uint8Array;
  /** The compression, if it is not read. */
  readonly unread: string | undefined;
}

/** Reads the text in a PNG, JPEG, GIF, BMP or WebP picture, or in all pictures of a TIFF, by text recognition. */
export const parsePicture: Parser = async function* (bytes, context) {
  const { options, receipt } = context;
  const pictures = picturesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), context);
  const [first] = pictures;
  if (!first || pictures.every(({ size }) => isEmpty(size))) throw damaged();
  if (pictures.length === 1 && isTooLarge(first.size))
    throw new ReadError('too_large', 'The picture has more pixels than are read.');
  receipt.setParts('page', pictures.length);
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
  const vocabulary = createVocabulary();
  let failures = 0;
  for (const [index, picture] of pictures.entries()) {
    const found = await readPicture(picture, index + 1, { recognizer, receipt });
    if (found === 'failed') failures += 1;
    else if (found && found !== 'skipped') {
      const bodySize = median(found.pieces.map((piece) => piece.size));
      const blocks = [...shownBlocks({ number: index + 1, ...found }, bodySize)];
      for (const { text } of blocks) vocabulary.add(text);
      yield* joinHyphens(blocks, vocabulary);
    }
  }
  if (failures === pictures.length) throw damaged();
};

const damaged = (): ReadError => new ReadError('corrupt', 'The picture is damaged.');

const isEmpty = ({ width, height }: PictureSize): boolean => width === 0 || height === 0;
const isTooLarge = ({ width, height }: PictureSize): boolean => width * height > MAX_PIXELS;

function picturesOf(file: Buffer, { receipt }: Pick<ReadContext, 'receipt'>): Picture[] {
  if (isGif(file) && isAnimated(file))
    receipt.addGap('skipped', 'The file is an animation, of which the first picture is read.');
  if (!isTiff(file)) {
    const only = () => (isBmp(file) ? readableBmp(file) : file);
    return [{ size: pictureSize(file) ?? NO_SIZE, file: only, unread: undefined }];
  }
  const { pages, end } = pagesOfTiff(file);
  if (end === 'limit') receipt.addGap('limit', 'The file has more pictures than the 10,000 that are read.');
  if (end === 'damaged' && pages.length > 0)
    receipt.addGap(
      'unreadable',
      'The list of pictures in the file is damaged. Those after its break are not read.',
    );
  let copy: Buffer | undefined;
  return pages.map((page) => ({
    size: tiffSize(page),
    file: () => pictureOfTiff((copy ??= Buffer.from(file)), page),
    unread: unreadCompression(page),
  }));
}

/** Resolves with `failed` when the picture cannot be read, and with `skipped` when it is not read. */
async function readPicture(
  { size, file, unread }: Picture,
  page: number,
  { recognizer, receipt }: { recognizer: Recognizer; receipt: ReceiptWriter },
): ReturnType<Recognizer['recognize']> {
  const location = { pages: { first: page, last: page } };
  if (isEmpty(size)) {
    receipt.addGap('unreadable', 'The picture is damaged.', location);
    return 'failed';
  }
  if (unread !== undefined) {
    receipt.addGap('skipped', `The picture is compressed as ${unread}, which is not read.`, location);
    return 'skipped';
  }
  if (isTooLarge(size)) {
    receipt.addGap('limit', 'The picture has more pixels than are read.', location);
    return 'skipped';
  }
  const { width, height, angle } = size;
  const isSideways = angle === 90 || angle === 270;
  const found = await recognizer.recognize({
    page,
    angle,
    width: (isSideways ? height : width) * POINTS_PER_PIXEL,
    height: (isSideways ? width : height) * POINTS_PER_PIXEL,
    picture: () => Promise.resolve().then(file),
  });
  if (found === 'failed' || found === 'skipped') return found;
  receipt.addPartRead();
  if (!found) receipt.addGap('empty', 'No text was recognized in the picture.', location);
  return found;
}
