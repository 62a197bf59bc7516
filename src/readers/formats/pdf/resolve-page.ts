import type { TextItem } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import type { Recognized, Recognizer } from '../ocr/recognizer.js';
import type { Coverage } from './judging/coverage.js';
import type { HiddenCounter } from '../visibility/hidden-counter.js';
import type { SeenPage } from './hidden.js';
import { joinLetterspaced } from './judging/letterspaced.js';
import { judgeText, readableCharacters } from './judging/judge-text.js';
import { addRecognized, needsPicture, recognizeIfNeeded } from './recognize-page.js';
import { inReadingOrder } from '../pages/layout/reading-order.js';
import { placeFoundTables } from '../pages/tables/found-tables.js';
import { placeRuledTables } from '../pages/tables/ruled-tables.js';
import { placeWrappedTables } from '../pages/tables/wrapped-tables.js';
import { rulingsOf, type Rulings } from '../pages/tables/rulings.js';
import type { ReadPage } from '../pages/shown-blocks.js';
import { toPieces } from '../pages/native-pieces.js';
import { MAX_TEXT_LENGTH, type Pdfium, type Turn } from '../pages/pdfium.js';
import { linesAskew } from '../pages/skew.js';
import { isMisread } from './judging/misread-text.js';
import { mayStandInColumns, takeColumns } from './vertical/take-columns.js';
import { isScattered, joinColumns } from './vertical/vertical-text.js';
import { withShifted } from './shifted/with-shifted.js';
import type { SecondReader } from './pdfjs/second-reader.js';
import type { Fontless } from './fontless/fontless.js';
import type { createSupplementary } from './marks/supplementary.js';
import type { SignFinder } from './marks/symbol-fonts.js';
import type { WorkBudgets } from './work-budgets.js';

export interface ResolvedPage extends ReadPage {
  /** Its text as the second reader gives it, in place of the pieces, without boxes. */
  readonly plain: string | undefined;
}

export interface Readers {
  readonly pdfium: Pdfium;
  readonly second: SecondReader;
  readonly signs: SignFinder;
  readonly supplementary: ReturnType<typeof createSupplementary>;
  readonly fontless: Fontless;
  readonly recognizer: Recognizer;
  readonly receipt: ReceiptWriter;
  readonly bytes: Uint8Array;
  /** True if the shapes that pages draw are read. */
  readonly withShapes: boolean;
  readonly hidden: HiddenCounter;
  readonly budgets: WorkBudgets;
  /** True if the file may hold text that PDFium leaves out as invisible. */
  readonly mayBeInvisible: boolean;
  /** Tells whether a page has content of which the beginning alone can be read; once, where nobody knows which one has. */
  readonly isBrokenOff: (page: number) => Promise<'here' | 'somewhere' | 'no'>;
  /** Tells whether a page may hold raised or lowered text. */
  readonly mayBeShifted: (page: number) => Promise<boolean>;
  /** True if the file may hold text that was typed onto its pages as annotations. */
  readonly mayHaveFreeText: boolean;
  /** The names of fonts whose codes are Unicode's. */
  readonly fonts: ReadonlySet<string>;
  /** True if the file may hold text that runs from top to bottom, which PDFium may scatter or leave out. */
  readonly mayBeVertical: boolean;
}

export interface BatchReaders extends Readers {
  /** The coverage of the pages of the batch. */
  readonly coverage: Coverage;
}

type Layout = Pick<ResolvedPage, 'pieces' | 'plain'>;

/** Chooses the text of a page: PDFium's, the text of pdf.js where it finds more, or the text recognized in its picture. */
export async function resolvePage(
  seen: SeenPage,
  turn: Turn | undefined,
  readers: BatchReaders,
): Promise<ResolvedPage> {
  const { pageNum: number, width, height } = seen.page;
  const joined = await joinLetterspaced(seen, readers);
  const native = await readText(await withShiftsOf(joined, turn, readers), readers);
  const text = textOf(native);
  const recognized = await recognizeIfNeeded(text, { page: seen.page, turn }, readers);
  if (typeof recognized === 'object') {
    if (mayStandBeside(text, native, { turn, recognized }) && !readers.recognizer.isForced) {
      await takeDownGaps(text, seen, readers);
      const found = recognized.skew === 0 ? recognized.pieces : linesAskew(recognized.pieces, recognized);
      const pieces = addRecognized(native.pieces, found);
      return { number, width, height, turn, plain: undefined, pieces };
    }
    await takeDownGaps(textOf({ ...recognized, plain: undefined }), seen, readers);
    return { number, plain: undefined, ...recognized };
  }
  await takeDownGaps(text, seen, { ...readers, isExplained: recognized !== undefined });
  return { number, width, height, turn, ...native };
}

/** Tells whether the text of the page is fine and has places, so that text recognized in pictures is read beside it. */
function mayStandBeside(
  text: string,
  { plain }: Layout,
  { turn, recognized }: { turn: Turn | undefined; recognized: Recognized },
): boolean {
  return judgeText(text) === 'readable' && plain === undefined && !turn && !recognized.turn;
}

/** The page with its raised and lowered texts written as such. PDFium's reader does not tell their heights. */
async function withShiftsOf(
  seen: SeenPage,
  turn: Turn | undefined,
  { mayBeShifted, second }: Readers,
): Promise<SeenPage> {
  if (turn || seen.page.textItems.length === 0 || !(await mayBeShifted(seen.page.pageNum))) return seen;
  const shifted = await second.shifted(seen.page.pageNum);
  return shifted.length > 0 ? withShifted(seen, shifted) : seen;
}

async function readText(seen: SeenPage, readers: Readers): Promise<Layout> {
  const { page, visible, hidden } = seen;
  noteHidden(readers, page.pageNum, hidden);
  const shown = readers.hidden.isRead ? page.textItems : visible;
  const rulings = rulingsOf(page.vectorGraphics?.lines ?? []);
  const columns = await columnsOf(shown, { page, rulings }, readers);
  const level = toPieces(columns.items).map((piece) => ({ ...piece, text: inReadingOrder(piece.text) }));
  const pieces = columns.pieces.length > 0 ? [...level, ...columns.pieces] : level;
  const tables = hidden.length > 0 && !readers.hidden.isRead ? [] : (page.blocks ?? []);
  const ruled = placeRuledTables(pieces, rulings);
  const layout = { pieces: placeFoundTables(placeWrappedTables(ruled), tables), plain: undefined };
  const text = pieces.map((piece) => piece.text).join(' ');
  const isCut = visible.some((item) => item.text.length >= MAX_TEXT_LENGTH);
  const isFine = judgeText(text) === 'readable' && !mayBeMisread(text) && !isCut;
  if (isFine && !readers.mayBeInvisible && !readers.mayBeVertical) return layout;
  const other = (await readers.second.text(page.pageNum)) ?? '';
  const isOther = readers.mayBeVertical && hidden.length === 0 && isScattered(text, other);
  // PDFium may lack the text of columns, or invisible text.
  const isInvisible = isOther && (await readers.second.isPartlyInvisible(page.pageNum));
  if (isOther && !isInvisible) return { pieces: [], plain: joinColumns(other) };
  if (isFine && !readers.mayBeInvisible && !isInvisible) return layout;
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

/** The texts of a page outside of columns that run from top to bottom, which PDFium's reader joins across, and these columns. */
async function columnsOf(
  shown: readonly TextItem[],
  { page, rulings }: { readonly page: SeenPage['page']; readonly rulings: Rulings },
  { second, mayBeVertical }: Readers,
): Promise<ReturnType<typeof takeColumns>> {
  if (!mayBeVertical && !mayStandInColumns(shown)) return { items: shown, pieces: [] };
  return takeColumns(shown, { columns: await second.columns(page.pageNum), rulings });
}

const mayBeMisread = (text: string): boolean => /[\x81-\xfe]{2}/.test(text) && isMisread(text);

/** Reports the hidden texts of a page. */
function noteHidden({ hidden }: Readers, page: number, texts: SeenPage['hidden']): void {
  for (const { text, reason } of texts) hidden.accepts(reason, { text, location: pageOf(page) });
  hidden.report();
}

/** Treats lines that only the second reader finds as hidden: PDFium leaves out text that is invisible or off the page. */
function withInvisible(
  layout: Layout,
  { page, other }: { page: SeenPage['page']; other: string },
  readers: Readers,
): Layout {
  const known = compact(page.textItems.map(({ text }) => text).join(''));
  const hidden = other.split('\n').filter((line) => isMissing(line, known));
  if (hidden.length === 0) return layout;
  noteHidden(
    readers,
    page.pageNum,
    hidden.map((text) => ({ text, reason: 'off' })),
  );
  if (!readers.hidden.isRead) return layout;
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

async function takeDownGaps(
  text: string,
  { page }: SeenPage,
  readers: BatchReaders & { isExplained?: boolean },
): Promise<void> {
  const { receipt, recognizer, coverage, isExplained = false } = readers;
  receipt.addPartRead();
  const verdict = judgeText(text);
  const location = pageOf(page.pageNum);
  if (verdict === 'garbled')
    receipt.addGap(
      'garbled',
      'The text of the page cannot be what it shows: its fonts do not tell their characters.',
      location,
    );
  const broken = await readers.isBrokenOff(page.pageNum);
  if (broken === 'here')
    receipt.addGap('unreadable', 'The content of the page is damaged: only its beginning is read.', location);
  else if (broken === 'somewhere')
    receipt.addGap('unreadable', 'The content of a page is damaged: only its beginning is read.');
  if (verdict !== 'empty' || isExplained || broken === 'here') return;
  if (!recognizer.isWanted && (await needsPicture('', page, coverage)))
    receipt.addGap('skipped', 'The page is a picture, and text recognition is off.', location);
  else receipt.addGap('empty', 'The page holds no text.', location);
}

const textOf = ({ pieces, plain }: Layout): string =>
  plain ??
  pieces.flatMap(({ text, table }) => (table ? table.flatMap(({ cells }) => cells) : [text])).join(' ');

const pageOf = (page: number) => ({ pages: { first: page, last: page } });
