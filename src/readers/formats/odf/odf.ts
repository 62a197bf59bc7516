import type { Block } from '../../blocks/block.js';
import type { ReadContext, Parser } from '../../parser.js';
import { createSignReader } from '../signs/sign-reader.js';
import { createHiddenCounter } from '../visibility/hidden-counter.js';
import { createComparisons } from '../visibility/layers.js';
import { failIfNothing } from '../xml/fail-if-nothing.js';
import { scanMarkup } from '../xml/read-markup.js';
import type { Zip } from '../zip/zip.js';
import type { OdfContext } from './context.js';
import { createObjectFormulas } from './object-formulas.js';
import { openDocument, readMeta } from './open-document.js';
import { readContent } from './read-content.js';
import { readPageTexts } from './page-texts.js';
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
