import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { ReadOptions } from '../../read-options.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { rightOf, type Piece } from '../pages/layout/piece.js';
import { toPieces } from '../pages/native-pieces.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';
import { skewOf, straightened } from '../pages/skew.js';
import { decodeGreen, encodePng } from '../pictures/png.js';
import { turnedBy } from '../pictures/raster.js';
import { prepareLanguages, type LanguageData } from './languages.js';
import { addAngles, assess, isUpright, otherAngles, type Angle, type Reading } from './orientation.js';
import { pictureSize } from './picture-size.js';

/** Most pages of a document that are recognized, and the time for all of them. */
const MAX = { pages: 500, seconds: 90 };
/** Words that are less sure than this are noise, such as words seen in photographs. */
const MIN_CONFIDENCE = 0.3;
const GUESSED =
  'What was recognized on this page is guessed and left out: its language or script may have no data.';
/**
 * The number of pages of a document that another direction, or straightening, did not improve, after which no more are
 * tried so.
 */
const MAX_IDLE_TURNS = 10;
/** Tesseract finds less and less on pages that lie askew clockwise by more degrees than this, and nothing from about 3. */
const MAX_ASKEW = 2;
/** The angle by which a page without text may lie askew, in degrees. */
const LIKELY_SKEW = 4;
/** The number of pairs that tell how a page that was turned so lies: fewer than otherwise, since it may have lain straight. */
const MIN_PAIRS_TURNED = 2;

export interface Recognized {
  /** The pieces of text, with their places on the upright, straightened page. */
  readonly pieces: readonly Piece[];
  /** From 0 (guessed) to 1 (sure). */
  readonly confidence: number;
  /** The turn that makes the page upright; undefined for an upright page. */
  readonly turn: Turn | undefined;
  /** The angle by which the upright page lies askew clockwise, in degrees; 0 for a straight page. */
  readonly skew: number;
  /** The size of the upright page in points. */
  readonly width: number;
  readonly height: number;
}

interface PictureOfPage {
  readonly page: number;
  /** PNG, JPEG, TIFF, GIF, WebP, BMP as Windows writes it, or a PDF whose first page is read. */
  readonly picture: () => Promise<Uint8Array>;
  /** The angle by which the content of the picture appears turned, as the file says. */
  readonly angle?: Angle;
  /** The size of the page in points as it is shown, which places are counted in. */
  readonly width: number;
  readonly height: number;
}

interface RecognizerOptions {
  readonly pdfium: Pdfium;
  readonly options: ReadOptions;
  readonly receipt: ReceiptWriter;
  readonly most?: typeof MAX;
}

export type Recognizer = ReturnType<typeof createRecognizer>;

/** Recognizes text in the pictures of one document, within bounds. Each omission is noted as a gap. */
export function createRecognizer({ pdfium, options, receipt, most = MAX }: RecognizerOptions) {
  let data: Promise<LanguageData> | undefined;
  let pages = 0;
  let spent = 0;
  const hasTime = (since = 0) => spent + since < most.seconds * 1_000;
  const readUpright = createUprightReader(pdfium, hasTime);
  return {
    isWanted: options.ocr !== 'off',
    isForced: options.ocr === 'force',
    /**
     * Resolves with undefined when the picture holds no text, with `failed` when it cannot be read, and with `skipped` when
     * it is not read: for a limit, without data of any language, or for a script without data.
     */
    async recognize(page: PictureOfPage): Promise<Recognized | 'failed' | 'skipped' | undefined> {
      const location = { pages: { first: page.page, last: page.page } };
      const languages = await (data ??= prepareData(options.ocrLanguages, receipt));
      if (languages.language === '') {
        receipt.addGap('skipped', 'Text recognition of this page has no data of any language.', location);
        return 'skipped';
      }
      if (pages >= most.pages || !hasTime()) {
        const limit = hasTime() ? `${String(most.pages)} pages` : `${String(most.seconds)} seconds`;
        receipt.addGap('limit', `Text recognition of a document ends after ${limit}.`, location);
        return 'skipped';
      }
      const started = performance.now();
      pages += 1;
      try {
        const found = toRecognized(await readUpright(await page.picture(), { page, languages }), page);
        if (found) receipt.addOcrPage(found.confidence);
        if (!found || !isGuessed(found)) return found;
        receipt.addGap('garbled', GUESSED, location);
        return 'skipped';
      } catch {
        receipt.addGap('unreadable', 'Text recognition failed on this page.', location);
        return 'failed';
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

interface Attempt {
  readonly angle: Angle;
  /** The degrees by which the picture was turned anticlockwise, since it lies askew. */
  readonly lean: number;
  readonly size: Pick<ParsedPage, 'width' | 'height'>;
  readonly items: readonly TextItem[];
  readonly reading: Reading;
}

/** Reads pages as they are, or as the last one lay, and in other directions only when that is unsure or sideways. */
function createUprightReader(pdfium: Pdfium, hasTime: (milliseconds: number) => boolean) {
  let usual: Angle = 0;
  let vain = 0;
  let vainLeans = 0;
  return async (
    bytes: Uint8Array,
    { page, languages }: { page: PictureOfPage; languages: LanguageData },
  ): Promise<Attempt> => {
    const started = performance.now();
    const attempt = async (angle: Angle, { picture = bytes, lean = 0 } = {}): Promise<Attempt> => {
      const how = { ...languages, angle: addAngles(page.angle ?? 0, angle) };
      const { textItems, ...size } = await pdfium.recognize(picture, how);
      const items = textItems.filter((item) => (item.confidence ?? 1) >= MIN_CONFIDENCE);
      return { angle, lean, size, items, reading: assess(items) };
    };
    let first = await attempt(usual);
    // Now and then Tesseract finds nothing on a page of few words at first.
    if (first.items.length === 0 && vainLeans < MAX_IDLE_TURNS) first = await attempt(usual);
    const mayLean = vainLeans < MAX_IDLE_TURNS && hasTime(performance.now() - started);
    const lean = mayLean ? leanOf(first) : 0;
    const picture = lean === 0 ? undefined : leaned(bytes, -lean);
    if (picture) {
      const other = await attempt(usual, { picture, lean });
      const isBetter = isUpright(other.reading) && other.reading.score > first.reading.score;
      vainLeans = isBetter ? 0 : vainLeans + 1;
      if (isBetter) return other;
    }
    if (isUpright(first.reading) || first.items.length === 0 || vain >= MAX_IDLE_TURNS) return first;
    let best = first;
    for (const angle of otherAngles(first.reading)) {
      if (isUpright(best.reading) || !hasTime(performance.now() - started)) break;
      const other = await attempt(addAngles(first.angle, angle));
      if (other.reading.score > best.reading.score) best = other;
    }
    vain = best === first ? vain + 1 : 0;
    if (isUpright(best.reading)) usual = best.angle;
    return best;
  };
}

/** Returns the degrees by which the picture should be turned anticlockwise to find more; 0 where it should not be turned. */
function leanOf({ items }: Attempt): number {
  if (items.length === 0) return LIKELY_SKEW;
  const skew = skewOf(toPieces(items));
  return skew > MAX_ASKEW ? skew : 0;
}

function toRecognized(
  { angle, lean, size, items, reading }: Attempt,
  { page, ...shown }: PictureOfPage,
): Recognized | undefined {
  if (items.length === 0) return undefined;
  const isSideways = angle === 90 || angle === 270;
  const width = isSideways ? shown.height : shown.width;
  const height = isSideways ? shown.width : shown.height;
  const scale = { x: width / size.width, y: height / size.height };
  const found = toPieces(items).map((piece) => scaled(piece, scale));
  const skew = lean === 0 ? skewOf(found) : skewOf(found, MIN_PAIRS_TURNED);
  const pieces = skew === 0 ? found : straightened(found, { skew, width, height });
  const turn = angle === 0 ? undefined : { page, angle };
  return { pieces, confidence: reading.confidence, turn, skew: skew + lean, width, height };
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

/** Larger pictures would take too long. */
const MAX_PIXELS = 12_000_000;

/**
 * A PNG in grey whose content is turned clockwise around its middle, on paper of the same size; undefined for pictures of other
 * formats, of more pixels, or damaged ones.
 */
function leaned(bytes: Uint8Array, degrees: number): Uint8Array | undefined {
  const size = pictureSize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (!size || size.width * size.height > MAX_PIXELS) return undefined;
  try {
    return encodePng(turnedBy(decodeGreen(bytes), (degrees * Math.PI) / 180));
  } catch {
    return undefined;
  }
}

/**
 * Measured on pages of 100 to 300 dots to the inch, read with data of English and German: pages in Latin letters, noisy
 * ones too, are surer than .77, pages in Cyrillic, Greek and Arabic less sure than .61.
 */
const UNSURE = 0.62;
/** Below this, it matters how many words look like none: up to .03 of the words in Latin letters, .15 to .56 of the others. */
const SURE = 0.75;
const MAX_STRANGE = 0.12;
/** Fewer words tell nothing. */
const MIN_WORDS = 10;

/** Tells whether recognized text is mostly guessed, such as on a page in a script without data. */
export function isGuessed({
  confidence,
  pieces,
}: {
  readonly confidence: number;
  readonly pieces: readonly Pick<Piece, 'text'>[];
}): boolean {
  if (confidence < UNSURE) return true;
  if (confidence >= SURE) return false;
  const words = pieces.flatMap(({ text }) => text.match(/[\p{L}\p{N}]+/gu) ?? []);
  return words.length >= MIN_WORDS && words.filter(isStrange).length > MAX_STRANGE * words.length;
}

/**
 * Tells whether a word has capitals or digits after small letters, or many consonants and no vowel, as words of other
 * scripts get when they are read as Latin.
 */
function isStrange(word: string): boolean {
  if (/\p{Ll}\p{Lu}|\p{L}\p{Nd}|\p{Nd}\p{L}{2}/u.test(word)) return true;
  return /^\p{Script=Latin}{4,}$/u.test(word) && !/[aeiouy]/i.test(word.normalize('NFD'));
}
