import type { ParsedPage } from '@llamaindex/liteparse';
import type { Rectangle } from '../../blocks/location.js';
import type { Recognized, Recognizer } from '../ocr/recognizer.js';
import { holds, type Piece } from '../pages/layout/piece.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';
import { boundedDpi } from '../pages/page-rasters.js';
import { shownSize } from './hidden.js';
import type { Coverage } from './judging/coverage.js';
import { judgeText, readableCharacters, hasFewCharacters } from './judging/judge-text.js';

/** A picture of a page for text recognition. */
const OCR_DPI = 200;
const OCR_PIXELS = 12_000_000;

interface Means {
  readonly recognizer: Recognizer;
  readonly pdfium: Pdfium;
  readonly bytes: Uint8Array;
  readonly coverage: Coverage;
}

/**
 * Returns the recognized text, if it is better than the text of the page; `left out` where the receipt tells already why
 * nothing could be recognized.
 */
export async function recognizeIfNeeded(
  text: string,
  { page, turn }: { page: ParsedPage; turn: Turn | undefined },
  { recognizer, pdfium, bytes, coverage }: Means,
): Promise<Recognized | 'left out' | undefined> {
  if (!recognizer.isWanted) return undefined;
  if (!recognizer.isForced && !(await needsPicture(text, page, coverage))) return undefined;
  const { pageNum } = page;
  const { width, height } = shownSize(page, turn);
  const found = await recognizer.recognize({
    page: pageNum,
    width,
    height,
    picture: async () => {
      const dpi = boundedDpi(page, { dpi: OCR_DPI, pixels: OCR_PIXELS });
      const [shot] = await pdfium.render(bytes, [pageNum], dpi);
      if (!shot) throw new Error('the page was not rendered');
      return shot.imageBuffer;
    },
  });
  if (found === 'failed' || found === 'skipped') return 'left out';
  if (!found) return undefined;
  const recognized = readableCharacters(found.pieces.map((piece) => piece.text).join(''));
  const isMore =
    recognizer.isForced || judgeText(text) !== 'readable' || recognized > readableCharacters(text);
  return isMore ? found : undefined;
}

/** Tells whether the text of a page is missing, garbled, or little beside its picture. */
export async function needsPicture(text: string, page: ParsedPage, coverage: Coverage): Promise<boolean> {
  const verdict = judgeText(text);
  if (verdict === 'garbled') return true;
  if (verdict === 'readable' && !hasFewCharacters(text)) return false;
  const covered = await coverage.of(page);
  // The picture of an empty page shows what nothing else tells.
  if (!covered) return verdict === 'empty';
  const { fullPageImage, imageCoverage, largestImageCoverage, uncoveredVectorArea = 0 } = covered;
  // Text that is drawn as outlines is no picture, but is seen as one.
  if (verdict === 'empty') return fullPageImage || imageCoverage > 0 || uncoveredVectorArea > 0;
  return fullPageImage || largestImageCoverage > 0.5 || imageCoverage > 0.5;
}

/** A text that is recognized around another text, within this many points, is the same text. */
const AROUND = 2;
/** Texts of fewer characters are read though the page has them already, since they may stand for something else. */
const MIN_CHARACTERS = 4;

/**
 * Adds the texts that were recognized in a page's pictures to the texts of the page. The text of the file is kept, since
 * recognition misreads, above all text in another language. Only pages with few characters have pictures recognized, so
 * that each text can be compared with each.
 */
export function addRecognized(pieces: readonly Piece[], recognized: readonly Piece[]): readonly Piece[] {
  const known = wordsOf(pieces.map(textOf).join(' '));
  const others = recognized.filter(
    (piece) => !pieces.some((text) => overlap(text, piece)) && !isKnown(wordsOf(piece.text), known),
  );
  return [...pieces, ...others];
}

const overlap = (one: Piece, other: Piece): boolean =>
  holds(widened(one), other) || holds(widened(other), one);

const widened = ({ x, y, width, height }: Rectangle): Rectangle => ({
  x: x - AROUND,
  y: y - AROUND,
  width: width + 2 * AROUND,
  height: height + 2 * AROUND,
});

const textOf = ({ text, table }: Piece): string =>
  table ? table.flatMap(({ cells }) => cells).join(' ') : text;

/** The words of a text, each between spaces, so that none is found within another. */
const wordsOf = (text: string): string =>
  ` ${Array.from(text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu), ([word]) => word).join(' ')} `;

const isKnown = (words: string, known: string): boolean =>
  words.trim().length >= MIN_CHARACTERS && known.includes(words);
