import type { ReadOptions } from '../../../../shared/extraction/read-options.js';
import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import { rightOf, type Piece } from '../pdf/layout/piece.js';
import { toPieces } from '../pdf/native-pieces.js';
import type { Pdfium } from '../pdf/pdfium.js';
import { prepareLanguages, type LanguageData } from './languages.js';

/** Most pages of a document that are recognized, and the time for all of them. */
const MOST_PAGES = 500;
const MOST_MILLISECONDS = 90_000;
/** Words that are less sure than this are noise, such as what is seen in photographs. */
const LEAST_CONFIDENCE = 0.3;

export interface Recognized {
  readonly pieces: readonly Piece[];
  /** From 0 (guessed) to 1 (sure). */
  readonly confidence: number;
}

interface PictureOfPage {
  readonly page: number;
  /** PNG, JPEG, TIFF or WebP. */
  readonly picture: () => Promise<Uint8Array>;
  /** The size of the page in points, which places are counted in. */
  readonly width: number;
  readonly height: number;
}

interface RecognizerOptions {
  readonly pdfium: Pdfium;
  readonly options: ReadOptions;
  readonly receipt: ReceiptWriter;
}

export type Recognizer = ReturnType<typeof createRecognizer>;

/** Recognizes text in the pictures of one document, within bounds. What is left out is taken down as a gap. */
export function createRecognizer({ pdfium, options, receipt }: RecognizerOptions) {
  let data: Promise<LanguageData> | undefined;
  let pages = 0;
  let spent = 0;
  let failures = 0;
  return {
    isWanted: options.ocr !== 'off',
    isForced: options.ocr === 'force',
    hasFailed: () => failures > 0,
    /** Resolves with undefined when nothing was recognized. */
    async recognize(page: PictureOfPage): Promise<Recognized | undefined> {
      const location = { pages: { first: page.page, last: page.page } };
      const languages = await (data ??= prepareData(options.ocrLanguages, receipt));
      if (languages.language === '') return undefined;
      if (pages >= MOST_PAGES || spent >= MOST_MILLISECONDS) {
        receipt.addGap(
          'limit',
          'The document has more pages for text recognition than are allowed.',
          location,
        );
        return undefined;
      }
      const started = performance.now();
      pages += 1;
      try {
        const found = toRecognized(await pdfium.recognize(await page.picture(), languages), page);
        if (found) receipt.addOcrPage(found.confidence);
        return found;
      } catch {
        failures += 1;
        receipt.addGap('unreadable', 'Text recognition failed on this page.', location);
        return undefined;
      } finally {
        spent += performance.now() - started;
      }
    },
  };
}

async function prepareData(languages: readonly string[], receipt: ReceiptWriter): Promise<LanguageData> {
  const prepared = await prepareLanguages(languages);
  for (const language of prepared.missing)
    receipt.addGap(
      'skipped',
      `Text recognition has no data of the language ${language}: install the package @tesseract.js-data/${language}.`,
    );
  return prepared;
}

function toRecognized(
  found: Awaited<ReturnType<Pdfium['recognize']>>,
  { width, height }: PictureOfPage,
): Recognized | undefined {
  const scale = { x: width / found.width, y: height / found.height };
  const sure = found.textItems.filter((item) => (item.confidence ?? 1) >= LEAST_CONFIDENCE);
  if (sure.length === 0) return undefined;
  const pieces = toPieces(sure).map((piece) => scaled(piece, scale));
  return { pieces, confidence: confidenceOf(sure) };
}

function scaled(piece: Piece, scale: { x: number; y: number }): Piece {
  const x = piece.x * scale.x;
  return {
    ...piece,
    x,
    y: piece.y * scale.y,
    width: rightOf(piece) * scale.x - x,
    height: piece.height * scale.y,
    size: piece.size * scale.y,
  };
}

/** The mean of all words, by their letters. */
function confidenceOf(items: readonly { text: string; confidence?: number }[]): number {
  let letters = 0;
  let sum = 0;
  for (const { text, confidence = 1 } of items) {
    letters += text.length;
    sum += text.length * confidence;
  }
  return letters === 0 ? 0 : Math.min(1, Math.max(0, sum / letters));
}
