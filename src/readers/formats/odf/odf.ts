import type { Block } from '../../blocks/block.js';
import type { ReadContext, Parser } from '../../parser.js';
import { ReadError } from '../../read-error.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { createSignReader } from '../signs/sign-reader.js';
import { createHiddenCounter } from '../visibility/hidden-counter.js';
import { createComparisons } from '../visibility/layers.js';
import { failIfNothing } from '../xml/fail-if-nothing.js';
import { scanMarkup, readMarkup, type MarkupHandler } from '../xml/read-markup.js';
import { openZip, type Zip } from '../zip/zip.js';
import type { OdfContext } from './context.js';
import { createObjectFormulas } from './object-formulas.js';
import { createParagraphs } from './paragraphs.js';
import { readSheets } from './read-sheets.js';
import { createRepeatBudget } from './repeat-budget.js';
import { createSheetEvents } from './sheet-events.js';
import { createSlideGround, type SlideGround } from './slides/slide-ground.js';
import { scanSlides } from './slides/slide-shapes.js';
import { createStyles } from './styles.js';
import { createTextDocument } from './text-document.js';

type Body = (zip: Zip, context: OdfContext) => Iterable<Block>;

/** Reads a text of OpenDocument, with the headers and footers of its pages at the end. */
export const parseOdt: Parser = (bytes, context) =>
  parseWith(bytes, context, function* (zip, odf) {
    yield* readBody(zip, odf);
    yield* readPageTexts(zip, odf);
  });

/** Reads a presentation of OpenDocument, slide by slide. */
export const parseOdp: Parser = (bytes, context) =>
  parseWith(bytes, context, (zip, odf) =>
    readBody(zip, odf, createSlideGround(scanSlides(zip, odf.styles), createComparisons(odf.receipt))),
  );

/** Reads a spreadsheet of OpenDocument, sheet by sheet. */
export const parseOds: Parser = (bytes, context) =>
  parseWith(bytes, context, function* (zip, odf) {
    const handler = createSheetEvents(odf, createRepeatBudget(odf.receipt));
    yield* readSheets(readContent(zip, odf, handler), odf);
  });

function* parseWith(bytes: Uint8Array, context: ReadContext, body: Body): Iterable<Block> {
  const { receipt } = context;
  receipt.setParser('opendocument', '1');
  const zip = openDocument(bytes, receipt);
  const styles = createStyles();
  let isCut = false;
  const noteCut = (member: string): void => {
    isCut = true;
    receipt.addGap('unreadable', `The part ${member} ends too early.`);
  };
  if (zip.has('styles.xml'))
    scanMarkup(zip.pieces('styles.xml'), { ...styles, cut: () => noteCut('styles.xml') });
  receipt.setLanguage(styles.language());
  readMeta(zip, receipt);
  const hidden = createHiddenCounter(context);
  const signs = createSignReader(receipt);
  const formulaOf = createObjectFormulas(zip);
  const blocks = body(zip, { styles, hidden, receipt, signs, noteCut, formulaOf });
  yield* failIfNothing(blocks, () => isCut, 'content of the OpenDocument file');
  hidden.report();
  signs.report();
}

function* readBody(zip: Zip, context: OdfContext, slideGround?: SlideGround): Iterable<Block> {
  const handler = createTextDocument(context, slideGround);
  yield* readContent(zip, context, handler);
  yield* handler.end();
}

/** Most bytes of XML that a file may hold after decompression. It is read as a stream. */
const LIMIT_BYTES = 512 * 1024 * 1024;
const WHAT = 'OpenDocument file';

/**
 * Opens the package of an OpenDocument file (ODF 1.3, part 2).
 * @throws ReadError `encrypted` or `corrupt` when it can never be read
 */
function openDocument(bytes: Uint8Array, receipt: ReceiptWriter): Zip {
  const zip = openZip(bytes, { limitBytes: LIMIT_BYTES, what: WHAT, receipt });
  const encrypted: string[] = [];
  if (zip.has('META-INF/manifest.xml'))
    scanMarkup(zip.pieces('META-INF/manifest.xml'), {
      open: (name) => {
        if (name.endsWith('encryption-data')) encrypted.push(name);
      },
      close: () => undefined,
      text: () => undefined,
    });
  if (encrypted.length > 0) throw new ReadError('encrypted', `The ${WHAT} is protected by a password.`);
  if (!zip.has('content.xml')) throw new ReadError('corrupt', `The ${WHAT} has no content in it.`);
  return zip;
}

/** Notes the title and the language that the file states. */
function readMeta(zip: Zip, receipt: ReceiptWriter): void {
  if (!zip.has('meta.xml')) return;
  const told = { 'dc:title': '', 'dc:language': '' };
  let current = '';
  scanMarkup(zip.pieces('meta.xml'), {
    open: (name) => {
      current = name;
    },
    close: () => {
      current = '';
    },
    text: (text) => {
      if (current === 'dc:title' || current === 'dc:language') told[current] += text;
    },
  });
  receipt.setTitle(told['dc:title']);
  const language = told['dc:language'];
  if (language !== '') receipt.setLanguage(language);
}

interface ContentReader<Item> extends MarkupHandler {
  take(): Iterable<Item>;
}

/** Reads the content of a document: its styles first, which stand before the body, then the body. */
function readContent<Item>(zip: Zip, context: OdfContext, reader: ContentReader<Item>): Iterable<Item> {
  let handler: MarkupHandler = context.styles;
  const content: MarkupHandler = {
    open: (name, attributes) => {
      if (name === 'office:body') handler = reader;
      handler.open(name, attributes);
    },
    close: (name) => handler.close(name),
    text: (text) => handler.text(text),
    cut: () => context.noteCut('content.xml'),
  };
  return readMarkup(zip.pieces('content.xml'), content, () => reader.take());
}

const PAGE_TEXT = /^style:(?:header|footer)(?:-left|-first)?$/;

/** Reads the text above and below the text of all pages, such as a letterhead. Each text is read once. */
function* readPageTexts(zip: Zip, { styles, hidden, signs }: OdfContext): Iterable<Block> {
  if (!zip.has('styles.xml')) return;
  const texts = new Set<string>();
  const paragraphs = createParagraphs({
    styles,
    hidden,
    signs,
    behind: () => styles.pageColor(true),
    onParagraph: ({ text }) => {
      texts.add(text);
    },
  });
  let depth = 0;
  scanMarkup(zip.pieces('styles.xml'), {
    open: (name, attributes) => {
      if (PAGE_TEXT.test(name)) depth += 1;
      if (depth > 0) paragraphs.open(name, attributes);
    },
    close: (name) => {
      if (depth > 0) paragraphs.close(name);
      if (PAGE_TEXT.test(name)) depth -= 1;
    },
    text: (text) => {
      if (depth > 0) paragraphs.text(text);
    },
  });
  for (const text of texts) yield { text: `${text}\n\n` };
}
