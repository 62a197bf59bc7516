import type { Block } from '../../blocks/block.js';
import { oneLine } from '../../blocks/one-line.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { decodeHtml } from '../html/html.js';
import { createHtmlReader } from '../html/read-html.js';
import { parseStyleSheet, type StyleSheet } from '../html/style-sheet.js';
import type { LoadStyleSheet } from '../html/visibility.js';
import { createSignReader, type SignReader } from '../signs/sign-reader.js';
import { createHiddenCounter, type HiddenCounter } from '../visibility/hidden-counter.js';
import { localName } from '../xml/attributes.js';
import { attribute, scanMarkup, type MarkupHandler } from '../xml/read-markup.js';
import { memberPath } from '../zip/member-path.js';
import { openZip, readMember, type Zip } from '../zip/zip.js';
import { readPackageDocument, refuseEncrypted, type BookItem } from './package-document.js';

/** Most bytes of text that a book may inflate to. Pictures and fonts are not inflated. */
const LIMIT_BYTES = 256 * 1024 * 1024;
/** Most chapters that are read. */
const MAX_CHAPTERS = 10_000;
const TEXT_TYPES = /html|xml$/;

interface Book {
  readonly zip: Zip;
  readonly titles: ReadonlyMap<string, string>;
  readonly hidden: HiddenCounter;
  readonly signs: SignReader;
  readonly receipt: ReceiptWriter;
  readonly sheetsOf: (chapter: string) => LoadStyleSheet;
}

/** Reads a book (EPUB 2 and 3) chapter by chapter, in the order of its spine. */
export function* parseEpub(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  receipt.setParser('epub', '1');
  const zip = openZip(bytes, { limitBytes: LIMIT_BYTES, what: 'EPUB book', receipt });
  refuseEncrypted(zip);
  const { title, language, spine, contents, isCut } = readPackageDocument(zip);
  if (isCut && spine.length === 0)
    throw new ReadError('corrupt', 'The list of chapters of the EPUB book ends too early.');
  if (isCut) receipt.addGap('unreadable', 'The list of chapters ends too early.');
  receipt.setTitle(title);
  receipt.setLanguage(language);
  const hidden = createHiddenCounter(context);
  const signs = createSignReader(receipt);
  const titles = readContents(zip, contents);
  const book: Book = { zip, titles, hidden, signs, receipt, sheetsOf: createBookSheets(zip) };
  const chapters = readableItems(spine, receipt);
  let last: string | undefined;
  for (const item of chapters) {
    const chapter = readChapter(book, item, last);
    last = chapter.title;
    yield* chapter.blocks;
  }
  hidden.report();
  signs.report();
}

/** An item that is listed again is read once. */
function readableItems(
  spine: readonly (BookItem | undefined)[],
  receipt: ReceiptWriter,
): readonly BookItem[] {
  const items = new Map(spine.flatMap((item) => (item ? [[item.path, item]] : [])));
  const missing = spine.filter((item) => item === undefined).length;
  receipt.setParts('chapter', items.size + missing);
  if (missing > 0)
    receipt.addGap('unreadable', `${String(missing)} chapters are not in the book's list of files.`);
  if (items.size > MAX_CHAPTERS)
    receipt.addGap('limit', `Only the first ${String(MAX_CHAPTERS)} chapters are read.`);
  return [...items.values()].slice(0, MAX_CHAPTERS);
}

interface Chapter {
  readonly title: string | undefined;
  readonly blocks: readonly Block[];
}

/** @param before the title of the chapter before, which goes on where a file has no title of its own */
function readChapter(book: Book, item: BookItem, before: string | undefined): Chapter {
  const { titles, receipt } = book;
  const known = titles.get(item.path);
  const location = known === undefined ? null : { chapter: known };
  const unread = (reason: 'skipped' | 'unreadable', detail: string): Chapter => {
    receipt.addGap(reason, detail, location);
    return { title: before, blocks: [] };
  };
  if (!TEXT_TYPES.test(item.mediaType)) return unread('skipped', 'The chapter is a picture or a medium.');
  const bytes = readMember(book.zip, item.path);
  if (!bytes) return unread('unreadable', 'The chapter is missing in the book or damaged.');
  const loadSheet = book.sheetsOf(item.path);
  const { hidden, signs } = book;
  const reader = createHtmlReader({ hidden, signs, hasTitle: false, isXhtml: true, loadSheet });
  const markup = decodeHtml(bytes);
  reader.write(markup);
  const { blocks, head } = reader.end();
  if (isCutOff(markup)) receipt.addGap('unreadable', 'The chapter ends too early.', location);
  receipt.addPartRead();
  const heading = blocks.find((block) => block.heading !== undefined)?.text.trim();
  const title = known ?? heading ?? before ?? (head.title || undefined);
  const place = title === undefined ? {} : { chapter: title };
  if (blocks.length === 0) receipt.addGap('empty', 'The chapter holds no text.', location);
  return {
    title,
    blocks: blocks.map((block, index) => ({ ...block, place, ...(index === 0 ? { isPart: true } : {}) })),
  };
}

const isCutOff = (markup: string): boolean => /<html[\s>]/i.test(markup) && !/<\/html\s*>/i.test(markup);

const MAX_SHEET_BYTES = 1024 * 1024;
/** Most style sheets of a book that are read. */
const MAX_SHEETS = 100;
/** Most selectors that all chapters of a book take from their style sheets. */
const MAX_SELECTORS = 1_000_000;
const NO_STYLES = parseStyleSheet('');

/** A style sheet, and how many selectors it has. */
interface BookSheet {
  readonly sheet: StyleSheet;
  readonly selectors: number;
}

/**
 * Reads the style sheets of a book, each once, when a chapter links to it. Further links of a chapter to it change nothing.
 * Sheets outside of the book, and sheets beyond the bounds, are not read.
 */
function createBookSheets(zip: Zip): (chapter: string) => LoadStyleSheet {
  const known = new Map<string, BookSheet | undefined>();
  let taken = 0;
  const load = (path: string): BookSheet | undefined => {
    if (!known.has(path) && known.size < MAX_SHEETS) known.set(path, readSheet(zip, path));
    return known.get(path);
  };
  return (chapter) => {
    const linked = new Set<string>();
    return (reference) => {
      if (/^[a-z][a-z\d+.-]*:/i.test(reference)) return undefined;
      const path = memberPath(reference, chapter);
      if (linked.has(path)) return NO_STYLES;
      const found = load(path);
      if (!found || taken + found.selectors > MAX_SELECTORS) return undefined;
      linked.add(path);
      taken += found.selectors;
      return found.sheet;
    };
  };
}

function readSheet(zip: Zip, path: string): BookSheet | undefined {
  const bytes = readMember(zip, path, MAX_SHEET_BYTES);
  if (!bytes) return undefined;
  const sheet = parseStyleSheet(decodeText(bytes));
  return { sheet, selectors: sheet.rules.reduce((sum, { subjects }) => sum + subjects.length, 0) };
}

/** Most titles of chapters that are kept. */
const MAX_TITLES = 10_000;

/** Reads the tables of contents of a book, each member once: the titles of its chapters by the members that they begin in. */
function readContents(zip: Zip, items: readonly BookItem[]): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  for (const { path, mediaType } of new Map(items.map((item) => [item.path, item])).values()) {
    if (!zip.has(path)) continue;
    const add = (reference: string, label: string): void => {
      const member = memberPath(reference, path);
      const title = oneLine(label);
      if (title !== '' && !titles.has(member) && titles.size < MAX_TITLES) titles.set(member, title);
    };
    scanMarkup(zip.pieces(path), mediaType.includes('ncx') ? readNcx(add) : readNav(add));
  }
  return titles;
}

type AddTitle = (reference: string, label: string) => void;

/** The table of contents of EPUB 2: `navPoint` holds a label, then where it leads. */
function readNcx(add: AddTitle): MarkupHandler {
  let label = '';
  let isInLabel = false;
  return {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'navLabel') {
        label = '';
        isInLabel = true;
      }
      if (local === 'content') add(attribute(attributes, 'src'), label);
    },
    close: (name) => {
      if (localName(name) === 'navLabel') isInLabel = false;
    },
    text: (text) => {
      if (isInLabel) label += text;
    },
  };
}

/** The table of contents of EPUB 3: links within `nav`, whose other kinds are lists of pages and landmarks. */
function readNav(add: AddTitle): MarkupHandler {
  let isInContents = false;
  let reference: string | undefined;
  let label = '';
  return {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'nav') isInContents = (attributes['epub:type'] ?? 'toc').split(' ').includes('toc');
      if (local !== 'a' || !isInContents) return;
      reference = attributes['href'];
      label = '';
    },
    close: (name) => {
      const local = localName(name);
      if (local === 'nav') isInContents = false;
      if (local !== 'a') return;
      if (reference !== undefined) add(reference, label);
      reference = undefined;
    },
    text: (text) => {
      if (reference !== undefined) label += text;
    },
  };
}
