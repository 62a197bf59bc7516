import { attribute } from '../../xml/read-markup.js';
import type { Block } from '../../../blocks/block.js';
import { tableBlocks } from '../../tables/table-blocks.js';
import { childOf, valueOf, treeEvents } from '../xml/elements.js';
import type { XmlElement, XmlEvent } from '../xml/stream-xml.js';
import { createControls } from './form-fields.js';
import { readParagraphText } from './paragraph-text.js';
import { underneath } from './run-look.js';
import { listOf, outlineOf } from './styles.js';
import { createRowReader, isHeaderRow } from './table-rows.js';
import type { Surroundings, WordReader } from './word-reader.js';
import { collapseBlanks } from '../../../blocks/one-line.js';

/** A block, and whether it is an item of a list, which ends with its line. */
export interface ContentBlock extends Block {
  readonly isItem?: boolean;
}

const WHOLE: ReadonlySet<string> = new Set([
  'w:p',
  'w:tr',
  'w:tblPr',
  'w:tblGrid',
  'w:sdtPr',
  'w:sectPr',
  'w:altChunk',
  'mc:Fallback',
]);

/** The elements of a body that are read as trees. Those around them are passed one by one. */
export const isWholeInBody = (name: string): boolean => WHOLE.has(name);

/** Reads paragraphs and tables in their order. */
export function* contentBlocks(
  events: Iterator<XmlEvent>,
  reader: WordReader,
  surroundings: Surroundings,
): Iterable<ContentBlock> {
  const controls = createControls(reader.gaps);
  for (let next = events.next(); next.done !== true; next = events.next()) {
    const event = next.value;
    controls.meet(event);
    if (event.type === 'open' && event.name === 'w:tbl') yield* tableContent(events, reader, surroundings);
    else if (event.type === 'element' && event.element.name === 'w:p') {
      const paragraph = controls.shown(event.element);
      if (paragraph) yield* paragraphBlocks(paragraph, reader, surroundings);
    } else if (event.type === 'element' && event.element.name === 'w:altChunk')
      yield* importedBlocks(event.element, reader);
    else continue;
    if (!surroundings.isCell) yield* noteBlocks(reader.notes.takePending(), reader);
  }
}

function* importedBlocks({ attributes }: XmlElement, { gaps, importAt }: WordReader): Iterable<Block> {
  const blocks = importAt(attribute(attributes, 'r:id'));
  if (!blocks) {
    gaps.skip('import');
    return;
  }
  let last = '';
  for (const block of blocks) {
    last = block.text;
    yield block;
  }
  if (last !== '' && !last.endsWith('\n\n')) yield { text: last.endsWith('\n') ? '\n' : '\n\n' };
}

/** Returns the content of an element, such as a cell or note, as one text. */
function flatText(element: XmlElement, reader: WordReader, surroundings: Surroundings): string {
  let text = '';
  for (const block of contentBlocks(treeEvents(element, isWholeInBody), reader, surroundings))
    text += block.text;
  return text.trim().replace(/;$/, '');
}

export function* noteBlocks(
  notes: Iterable<{ label: string; element: XmlElement }>,
  reader: WordReader,
): Iterable<Block> {
  for (const { label, element } of notes) {
    const text = collapseBlanks(flatText(element, reader, { ground: reader.page, isCell: true }));
    if (text !== '') yield { text: `${label} ${text}\n\n` };
  }
}

function* paragraphBlocks(
  paragraph: XmlElement,
  reader: WordReader,
  surroundings: Surroundings,
): Iterable<ContentBlock> {
  const { gaps, styles, notes } = reader;
  const properties = childOf(paragraph, 'w:pPr');
  const style = valueOf(properties, 'w:pStyle');
  const look = underneath(styles.ownLook(undefined, properties), styles.paragraphLook(style));
  const { text, boxes, drawings } = readParagraphText(paragraph, {
    gaps,
    styles,
    look,
    ground: surroundings.ground,
    refer: notes.refer,
  });
  if (text !== '') yield writeParagraph(text, properties, reader);
  // The ground behind a text box is not known.
  const inside = { ...surroundings, ground: 'unknown' as const };
  for (const box of boxes) yield* contentBlocks(treeEvents(box, isWholeInBody), reader, inside);
  for (const drawing of drawings) yield* reader.graphicsOf(drawing);
}

function writeParagraph(
  text: string,
  properties: XmlElement | undefined,
  { gaps, styles, numbering }: WordReader,
): ContentBlock {
  if (isInitial(properties)) return { text: /\p{L}{2}$/u.test(text) ? `${text} ` : text };
  const name = valueOf(properties, 'w:pStyle');
  const style = styles.paragraph(name);
  const outline = outlineOf(properties);
  const heading = outline === undefined ? style.heading : outline < 9 ? outline + 1 : undefined;
  const list = listOf(properties) ?? style.list;
  const level = list?.level ?? style.list?.level ?? (list ? numbering.levelOf(list.id, name) : 0);
  const counted = list && numbering.next(list.id, level);
  const isLeftOut =
    list !== undefined &&
    counted !== undefined &&
    numbering.isVanished(list.id, level) &&
    !gaps.hidden.accepts('off', { text: counted });
  const mark = isLeftOut ? '' : counted;
  if (heading !== undefined) return { text: `${mark ?? ''}${collapseBlanks(text)}\n\n`, heading };
  if (mark === undefined) return { text: `${text}\n\n` };
  return { text: `${'  '.repeat(level)}${mark}${text}\n`, isItem: true };
}

/** Tells whether a paragraph is the large first letter, or word, of the one after it. */
function isInitial(properties: XmlElement | undefined): boolean {
  const kind = childOf(properties, 'w:framePr')?.attributes['w:dropCap'];
  return kind === 'drop' || kind === 'margin';
}

/** Reads a table from behind its beginning to its end. One with a single column is a frame around its content. */
function* tableContent(
  events: Iterator<XmlEvent>,
  reader: WordReader,
  surroundings: Surroundings,
): Iterable<ContentBlock> {
  const rows = createRowReader(events, surroundings, {
    gaps: reader.gaps,
    styles: reader.styles,
    flatten: (cell, inside) => flatText(cell, reader, inside),
  });
  const first = rows.next();
  if (!first) return;
  if (first.isFrame) {
    for (let row: typeof first | undefined = first; row; row = rows.next())
      for (const { element, inside } of rows.inFrame(row))
        yield* contentBlocks(treeEvents(element, isWholeInBody), reader, inside);
    return;
  }
  const ahead = [first];
  while (isHeaderRow(ahead.at(-1)?.element) && ahead.length < 10) {
    const row = rows.next();
    if (!row) break;
    ahead.push(row);
  }
  const headers = ahead.filter(({ element }) => isHeaderRow(element)).length;
  const texts = rows.texts(ahead);
  if (surroundings.isCell)
    for (const { cells } of texts) yield { text: `${cells.filter((cell) => cell !== '').join(', ')};\n` };
  else yield* tableBlocks(texts, { headerRows: Math.max(1, headers) });
}
