import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { createGraphics } from './drawing/graphic.js';
import { createGapCounter } from './gap-counter.js';
import { WORD } from './package/office-kind.js';
import { openPackage, type OfficePackage } from './package/office-package.js';
import { readProperties } from './properties.js';
import { readWordColors, type WordColors } from './word/colors.js';
import { contentBlocks, isWholeInBody, noteBlocks, type ContentBlock } from './word/content-blocks.js';
import { loadImports, type ReadImport } from './word/imports.js';
import { readNotes } from './word/notes.js';
import { readNumbering } from './word/numbering.js';
import { readWordStyles } from './word/styles.js';
import type { WordReader } from './word/word-reader.js';
import type { Fill } from '../visibility/layers.js';

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

/** A drawing that its part puts behind the text: any value of `behindDoc` but `0` and `false`, or a negative layer in VML. */
const BEHIND = /behindDoc\s{0,9}=\s{0,9}["'](?:[^0f]|0[^"']|f[^a])|z-index\s{0,9}:\s{0,9}-/;
/** A drawing that has a place of its own, which lies behind the text of pages where their head or foot has it. */
const PLACED = /<(?:\w{1,50}:)?anchor[\s>]|position\s{0,9}:\s{0,9}absolute/;

interface OtherParts {
  /** The heads and feet of pages. */
  readonly furniture: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Reads the fill behind the text of pages. Nobody follows which texts lie on a drawing, so that the fill of no page is
 * known when one part of the file draws something behind text.
 */
function readPageFill(office: OfficePackage, colors: WordColors, { furniture, notes }: OtherParts): Fill {
  const hasDrawings =
    [office.mainPart, ...notes, ...furniture].some((part) => office.mentions(part, BEHIND)) ||
    furniture.some((part) => office.mentions(part, PLACED));
  if (hasDrawings) return 'unknown';
  for (const event of office.stream(office.mainPart, (name) => name === 'w:background')) {
    if (event.type === 'element') return colors.page(event.element);
    if (event.type === 'open' && event.name === 'w:body') break;
  }
  return colors.page(undefined);
}
