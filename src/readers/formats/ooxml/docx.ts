import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { createGraphics } from './drawing/graphic.js';
import { createGapCounter } from './gap-counter.js';
import { WORD } from './package/office-kind.js';
import { openPackage, type OfficePackage } from './package/office-package.js';
import { readProperties } from './properties.js';
import { readWordColors } from './word/colors.js';
import { contentBlocks, isWholeInBody, noteBlocks, type ContentBlock } from './word/content-blocks.js';
import { loadImports, type ReadImport } from './word/imports.js';
import { readNotes } from './word/notes.js';
import { readNumbering } from './word/numbering.js';
import { readPageFill } from './word/page-fill.js';
import { readWordStyles } from './word/styles.js';
import type { WordReader } from './word/word-reader.js';

/** A line at the head or foot of pages that only counts them. Other words with a number, such as a chapter, say something. */
const PAGE_NUMBER =
  /^(?:(?:page|pages|pag|pág|pagina|página|seite|blatt|sida|side|sivu|oldal|strana|strona|стр|страница|p|pg|s|str)\.?\s)?\s?\d+(?:\s?(?:of|von|de|di|sur|van|av|z|из|\/)\s?\d+)?$/i;

/**
 * Parses Word (docx) as a stream: headings, lists, tables, notes behind the paragraph that refers to them, text boxes,
 * charts and diagrams. The text of heads and feet of pages follows once, at the end.
 */
export async function* parseDocx(bytes: Uint8Array, context: ReadContext): AsyncIterable<Block> {
  const office = openPackage(bytes, WORD, context);
  yield* readWord(office, context, await loadImports(office, context, readImported));
}

/** Most bytes of XML of a Word file that another one imports. */
const IMPORTED_LIMIT = 32 * 1024 * 1024;

/** Reads a Word file within another one. Files that it imports itself are not read. */
const readImported = (bytes: Uint8Array, context: ReadContext): Iterable<Block> =>
  readWord(openPackage(bytes, WORD, context, IMPORTED_LIMIT), context, () => undefined);

function* readWord(office: OfficePackage, context: ReadContext, importAt: ReadImport): Iterable<Block> {
  readProperties(office, context);
  const partsOf = createParts(office);
  const gaps = createGapCounter(context);
  const furniture = [...partsOf('header'), ...partsOf('footer')];
  const colors = readWordColors(office, { theme: partsOf('theme')[0], settings: partsOf('settings')[0] });
  const styles = readWordStyles(office, partsOf('styles')[0], colors);
  if (styles.language !== undefined) context.receipt.setLanguage(styles.language);
  const reader: WordReader = {
    gaps,
    styles,
    numbering: readNumbering(office, partsOf('numbering')[0]),
    notes: readNotes(office, gaps, (type) => partsOf(type)[0]),
    page: readPageFill(office, colors, {
      furniture,
      notes: [...partsOf('footnotes'), ...partsOf('endnotes')],
    }),
    importAt,
    graphicsOf: createGraphics(office, office.mainPart, gaps.signs),
  };
  yield* endLists(partBlocks(office, office.mainPart, reader));
  yield* noteBlocks(reader.notes.takeRest(), reader);
  // Notes of notes.
  yield* noteBlocks(reader.notes.takePending(), reader);
  yield* furnitureBlocks(office, furniture, reader);
  gaps.finish();
}

/** Finds parts by the relations of the document, or by their usual names where it has none at all. */
function createParts(office: OfficePackage): (type: string) => string[] {
  const relations = office.relations(office.mainPart);
  return (type) => {
    const named = relations.filter((relation) => relation.type === type).map(({ target }) => target);
    if (relations.length > 0) return [...new Set(named)];
    return office.names.filter(
      (name) => name.startsWith(`word/${type}`) && /^[a-z]+\d*\.xml$/.test(name.slice(5)),
    );
  };
}

function partBlocks(office: OfficePackage, part: string, reader: WordReader): Iterable<ContentBlock> {
  const events = office.stream(part, isWholeInBody)[Symbol.iterator]();
  return contentBlocks(events, reader, { ground: reader.page, isCell: false });
}

/** Puts an empty line behind the last item of a list. */
function* endLists(blocks: Iterable<ContentBlock>): Iterable<Block> {
  let last: ContentBlock | undefined;
  for (const block of blocks) {
    if (last) yield finished(last, block.isItem === true);
    last = block;
  }
  if (last) yield finished(last, false);
}

function finished({ isItem, ...block }: ContentBlock, isFollowedByItem: boolean): Block {
  return isItem === true && !isFollowedByItem ? { ...block, text: `${block.text}\n` } : block;
}

/** Texts that pages repeat, each once and without numbers of pages. */
function* furnitureBlocks(
  office: OfficePackage,
  parts: readonly string[],
  reader: WordReader,
): Iterable<Block> {
  const seen = new Set<string>();
  for (const part of parts) {
    const own: WordReader = { ...reader, graphicsOf: createGraphics(office, part, reader.gaps.signs) };
    for (const { text } of partBlocks(office, part, own)) {
      const line = text.trim();
      if (seen.has(line) || PAGE_NUMBER.test(line)) continue;
      seen.add(line);
      yield { text: `${line}\n\n` };
    }
  }
}
