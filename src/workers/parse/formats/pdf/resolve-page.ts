import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import type { HiddenText } from '../../../../shared/extraction/read-options.js';
import type { Recognized, Recognizer } from '../ocr/recognizer.js';
import { boundedDpi, shownSize, type SeenPage } from './hidden.js';
import { judgeText, readableCharacters } from './judge-text.js';
import { placeTables } from './layout/tables.js';
import type { Piece } from './layout/piece.js';
import { toPieces } from './native-pieces.js';
import { LONGEST_TEXT, type Pdfium, type Turn } from './pdfium.js';
import { isMisread } from './pdf-repair.js';
import type { SecondReader } from './second-reader.js';

/** A picture of a page for text recognition. */
const OCR_DPI = 200;
const OCR_PIXELS = 12_000_000;
/** A page that is mostly picture and has fewer characters of text is recognized, too. */
const FEW_CHARACTERS = 200;

export interface ResolvedPage {
  readonly number: number;
  readonly width: number;
  readonly height: number;
  readonly turn: Turn | undefined;
  readonly pieces: readonly Piece[];
  /** Its text as the second reader gives it, in place of the pieces, without boxes. */
  readonly plain: string | undefined;
}

export interface Readers {
  readonly pdfium: Pdfium;
  readonly second: SecondReader;
  readonly recognizer: Recognizer;
  readonly receipt: ReceiptWriter;
  readonly bytes: Uint8Array;
  readonly hiddenText: HiddenText;
  /** Whether the file may hold text that PDFium leaves out as invisible. */
  readonly mayBeInvisible: boolean;
}

type Layout = Pick<ResolvedPage, 'pieces' | 'plain'>;

/** Chooses what is read of a page: PDFium's text, that of pdf.js where it finds more, or what is recognized in its picture. */
export async function resolvePage(
  seen: SeenPage,
  turn: Turn | undefined,
  readers: Readers,
): Promise<ResolvedPage> {
  const { pageNum: number, width, height } = seen.page;
  const native = await readText(seen, readers);
  const recognized = await recognizeIfNeeded(native, { page: seen.page, turn }, readers);
  takeDownGaps(recognized ? { pieces: recognized.pieces, plain: undefined } : native, seen, readers);
  if (recognized) return { number, plain: undefined, ...recognized };
  return { number, width, height, turn, ...native };
}

async function readText(seen: SeenPage, readers: Readers): Promise<Layout> {
  const { page, visible, hidden } = seen;
  if (hidden.length > 0) noteHidden(readers, page.pageNum, hidden.map(({ text }) => text).join(' '));
  const shown = readers.hiddenText === 'drop' ? visible : page.textItems;
  const pieces = toPieces(shown);
  const tables = hidden.length > 0 && readers.hiddenText === 'drop' ? [] : (page.blocks ?? []);
  const layout = { pieces: placeTables(pieces, tables), plain: undefined };
  const text = pieces.map((piece) => piece.text).join(' ');
  const isCut = visible.some((item) => item.text.length >= LONGEST_TEXT);
  const isFine = judgeText(text) === 'readable' && !mayBeMisread(text) && !isCut;
  if (isFine && !readers.mayBeInvisible) return layout;
  const other = (await readers.second.text(page.pageNum)) ?? '';
  if (isFine || hidden.length > 0) return withInvisible(layout, { page, other }, readers);
  const isBetter =
    readableCharacters(other) > readableCharacters(text) || (isMisread(text) && !isMisread(other));
  if (isBetter && judgeText(other) === 'readable') return { pieces: [], plain: other };
  if (isCut)
    readers.receipt.addGap(
      'limit',
      'A text of the page has more characters than are read.',
      pageOf(page.pageNum),
    );
  return layout;
}

const mayBeMisread = (text: string): boolean => /[\x81-\xfe]{2}/.test(text) && isMisread(text);

function noteHidden({ hiddenText, receipt }: Readers, page: number, text: string): void {
  if (hiddenText !== 'keep')
    receipt.addGap('hidden', `Text that readers of the page do not see: ${text.slice(0, 200)}`, pageOf(page));
}

/** Treats lines that only the second reader finds as hidden: PDFium leaves out what is invisible or off the page. */
function withInvisible(
  layout: Layout,
  { page, other }: { page: SeenPage['page']; other: string },
  readers: Readers,
): Layout {
  const known = compact(page.textItems.map(({ text }) => text).join(''));
  const hidden = other.split('\n').filter((line) => isMissing(line, known));
  if (hidden.length === 0) return layout;
  noteHidden(readers, page.pageNum, hidden.join(' '));
  if (readers.hiddenText === 'drop') return layout;
  const below = Math.max(0, ...layout.pieces.slice(-5_000).map(({ y, height }) => y + height));
  const added = hidden.map((line, index) => ({
    text: line.trim(),
    x: 0,
    y: below + 30 + 12 * index,
    width: 100,
    height: 10,
    size: 10,
    isBold: false,
  }));
  return { pieces: [...layout.pieces, ...added], plain: undefined };
}

const compact = (text: string): string => text.normalize('NFKC').replace(/\s+/g, '').toLowerCase();

function isMissing(line: string, known: string): boolean {
  const words = line
    .split(/\s+/)
    .map(compact)
    .filter((word) => word !== '');
  if (words.length === 0 || known.includes(words.join(''))) return false;
  return words.filter((word) => !known.includes(word)).length * 2 > words.length;
}

async function recognizeIfNeeded(
  native: Layout,
  { page, turn }: { page: SeenPage['page']; turn: Turn | undefined },
  readers: Readers,
): Promise<Recognized | undefined> {
  const { recognizer, pdfium, bytes } = readers;
  const text = textOf(native);
  if (!recognizer.isWanted || !(recognizer.isForced || needsPicture(text, page))) return undefined;
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
  if (!found || found === 'failed' || found === 'skipped') return undefined;
  const recognized = readableCharacters(found.pieces.map((piece) => piece.text).join(''));
  const isMore =
    recognizer.isForced || judgeText(text) !== 'readable' || recognized > readableCharacters(text);
  return isMore ? found : undefined;
}

/** Tells whether the text of a page is missing, garbled, or little beside its picture. */
function needsPicture(text: string, { complexity }: SeenPage['page']): boolean {
  if (!complexity) return false;
  const verdict = judgeText(text);
  const hasPicture =
    complexity.fullPageImage || complexity.largestImageCoverage > 0.5 || complexity.imageCoverage > 0.5;
  if (verdict === 'garbled') return true;
  // Text that is drawn as outlines is no picture, but is seen as one.
  if (verdict === 'empty')
    return (
      complexity.fullPageImage || complexity.imageCoverage > 0 || (complexity.uncoveredVectorArea ?? 0) > 0
    );
  return hasPicture && readableCharacters(text) < FEW_CHARACTERS;
}

function takeDownGaps(layout: Layout, { page }: SeenPage, { receipt, recognizer }: Readers): void {
  receipt.addPartRead();
  const text = textOf(layout);
  const verdict = judgeText(text);
  const location = pageOf(page.pageNum);
  if (verdict === 'garbled')
    receipt.addGap(
      'garbled',
      'The text of the page cannot be what it shows: its fonts do not tell their characters.',
      location,
    );
  if (verdict !== 'empty') return;
  if (!recognizer.isWanted && needsPicture('', page))
    receipt.addGap('skipped', 'The page is a picture, and text recognition is off.', location);
  else receipt.addGap('empty', 'The page holds no text.', location);
}

const textOf = ({ pieces, plain }: Layout): string =>
  plain ??
  pieces.flatMap(({ text, table }) => (table ? table.flatMap(({ cells }) => cells) : [text])).join(' ');

const pageOf = (page: number) => ({ pages: { first: page, last: page } });
