import { createBlockWriter, type BlockWriter } from '../../blocks/block-writer.js';
import type { Block } from '../../blocks/block.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import { createMathCollector, type MathCollector } from '../formulas/mathml.js';
import { createHtmlText } from '../html/html.js';
import {
  attributeText,
  attributeValues,
  beginsProse,
  joinedValues,
  localName,
  shiftOf,
  type NamedText,
} from './attributes.js';
import { attribute, type Attributes, type MarkupHandler } from './read-markup.js';
import { createXmlTables, type XmlTables } from './xml-tables.js';
import { oneLine } from '../../blocks/one-line.js';

/** Elements whose title is a heading (DocBook, JATS, TEI, DITA). */
const SECTIONS = new Set(
  'book part chapter section sect1 sect2 sect3 sect4 sect5 article sec appendix preface topic refsect1 refsect2 div body'.split(
    ' ',
  ),
);
const TITLES = new Set(['title', 'head', 'article-title']);
/** Elements whose text is read without their name. */
const PROSE = new Set('p para simpara s l line text paragraph li item-text screen programlisting'.split(' '));
/** A longer value is prose, whatever its element is called. */
const MAX_VALUE_LENGTH = 300;
/** Elements that say how their text looks, also in records (EndNote). */
const STYLED = new Set(['style', 'font']);
/** Names of prose that records have, too. */
const ALSO_RECORDS = new Set('book part article topic line text'.split(' '));
const MAX_HEADING_DEPTH = 9;
/** Text that is markup itself. */
const MARKUP = /<\/?[a-z][^<>]{0,200}>/i;
/** A record is written when it has as many values as this, or as many characters. */
const MAX_VALUES = 500;
const MAX_CHARACTERS = 65_536;

/** Ends of lines within a text. */
const BREAKS = new Set(['break', 'br', 'lb']);
/** Formulas on lines of their own. */
const FORMULAS = new Set(['disp-formula', 'equation', 'informalequation', 'formula']);
const CODE = new Set(['programlisting', 'screen', 'literallayout', 'code', 'pre']);

interface Value extends NamedText {
  /** The attributes of the element with the text, which are written where it is a value of a record. */
  readonly attributes: readonly NamedText[];
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Attributes;
  /** True if it is in a format for prose. */
  readonly isProse: boolean;
  /** True if it is a part of a table, whose attributes describe the layout. */
  readonly isInTable: boolean;
  /** Its text and the texts of the elements in it, in order. */
  parts: Piece[];
  /** The elements in it, as values of a record, which they are unless it has text of its own. */
  values: Value[];
  characters: number;
  hasText: boolean;
  hasElements: boolean;
  /** The formula that it has as MathML, and in other languages as well. */
  formula: string;
}

interface State {
  readonly writer: BlockWriter;
  readonly receipt: ReceiptWriter;
  readonly isProse: boolean;
  readonly open: OpenElement[];
  readonly tables: XmlTables;
  readonly math: MathCollector;
  sections: number;
  hasTitle: boolean;
}

export interface Elements extends MarkupHandler {
  readonly take: () => Block[];
  readonly end: () => Block[];
}

/**
 * Makes blocks of elements: elements among text become one text, others the values of a record.
 * @param isProse whether the file is known to be of a format for prose
 */
export function createElements(receipt: ReceiptWriter, isProse = false): Elements {
  const writer = createBlockWriter();
  const tables = createXmlTables();
  const state: State = {
    writer,
    receipt,
    isProse,
    open: [],
    tables,
    math: createMathCollector(),
    sections: 0,
    hasTitle: false,
  };
  return {
    open: (name, attributes) => {
      if (!state.math.open(name, attributes)) openElement(state, localName(name), attributes);
    },
    close: (name) => {
      if (!state.math.isOpen()) closeElement(state);
      else addFormula(state, state.math.close(name));
    },
    text: (text) => {
      if (state.math.isOpen()) state.math.text(text);
      else addText(state, text);
    },
    take: writer.take,
    end: writer.end,
  };
}

function addText({ open }: State, text: string): void {
  const element = open.at(-1);
  if (!element) return;
  if (text.trim() !== '') element.hasText = true;
  element.parts.push({ text, shifts: [] });
}

/** A formula on a line of its own stands apart from its number. */
function addFormula(state: State, text: string | undefined): void {
  const element = state.open.at(-1);
  if (text === undefined || text === '' || !element) return;
  if (element.name === 'alternatives') element.formula = text;
  addText(state, FORMULAS.has(element.name) ? ` ${text} ` : text);
}

function openElement(state: State, name: string, attributes: Attributes): void {
  const holder = state.open.at(-1);
  if (!holder) state.receipt.setLanguage(attribute(attributes, 'xml:lang'));
  if (holder?.hasElements === false && !holder.hasText && !state.tables.isOpen()) {
    const before = state.open.at(-2);
    // The values of the outer record go before the record that begins here.
    if (before && !before.hasText) writeValues(state.writer, before);
    holder.values.push(...asValues(valuesOf(holder)));
  }
  if (holder) holder.hasElements = true;
  if (SECTIONS.has(name)) state.sections += 1;
  const isInProse = (holder?.isProse ?? state.isProse) || beginsProse(name, attributes);
  const opened = {
    name,
    attributes,
    isProse: isInProse,
    depth: state.open.length,
    holder: holder?.name ?? '',
  };
  if (state.tables.begins(opened)) writeOpen(state);
  state.tables.open(opened);
  state.open.push({
    name,
    attributes,
    isProse: isInProse,
    isInTable: state.tables.isOpen(),
    parts: [],
    values: [],
    characters: 0,
    hasText: false,
    hasElements: false,
    formula: '',
  });
}

/** Writes the text before a table, in all elements that hold it. */
function writeOpen({ open, writer }: State): void {
  for (const element of open) {
    if (element.hasText) {
      writer.add({ text: textOf(element) });
      Object.assign(element, { parts: [], values: [], characters: 0, hasText: false });
    } else writeValues(writer, element);
  }
}

function closeElement(state: State): void {
  const element = state.open.pop();
  if (!element) return;
  if (element.formula !== '') Object.assign(element, { parts: [pieceOf(element.formula)], values: [] });
  const holder = state.open.at(-1);
  const { tables, writer } = state;
  const wasInCell = tables.isInCell();
  const table = tables.close(state.open.length, element.name, () => textOf(element));
  if (table) writer.addFinished(table);
  if (holder && isBreak(element)) holder.parts.push(pieceOf(element.attributes['break'] === 'no' ? '' : ' '));
  else if (!wasInCell) endElement(state, element, holder);
  // A cell itself is in its row.
  else if (tables.isInCell()) holder?.parts.push(partOf(element, textOf(element)));
  if (SECTIONS.has(element.name)) state.sections -= 1;
}

const isBreak = ({ name, hasText, hasElements }: OpenElement): boolean =>
  BREAKS.has(name) && !hasText && !hasElements;

/** Paragraphs within a text stand apart from it. */
const partOf = (element: Pick<OpenElement, 'name' | 'attributes'>, text: string): Piece => {
  const shift = shiftOf(element.name, element.attributes);
  if (shift !== undefined) return { text, shifts: [shift] };
  return pieceOf(PROSE.has(element.name) ? ` ${text} ` : text);
};

const pieceOf = (text: string): Piece => ({ text, shifts: [] });

function endElement(state: State, element: OpenElement, holder: OpenElement | undefined): void {
  const isRecord = element.hasElements && !element.hasText && holder?.hasText !== true;
  if (isRecord) {
    writeValues(state.writer, element);
    return;
  }
  const value = valueOf(element);
  if (holder) addValue(state, holder, { ...value, piece: partOf(element, value.text) });
  else state.writer.add({ text: value.text + attributeText(value.attributes) });
}

function addValue(
  state: State,
  holder: OpenElement,
  { piece, ...value }: Value & { readonly piece: Piece },
): void {
  if (value.text === '') return;
  if (value.name === 'title' && !state.hasTitle) {
    state.receipt.setTitle(value.text);
    state.hasTitle = true;
  }
  if (TITLES.has(value.name) && SECTIONS.has(holder.name) && !holder.hasText) {
    writeValues(state.writer, holder);
    state.writer.add({ text: value.text, heading: Math.min(state.sections, MAX_HEADING_DEPTH) });
    holder.values.push(...asValues(value.attributes));
    return;
  }
  holder.values.push(value);
  holder.parts.push(piece);
  holder.characters += value.text.length + attributeText(value.attributes).length;
  if (!holder.hasText && (holder.values.length >= MAX_VALUES || holder.characters > MAX_CHARACTERS))
    writeValues(state.writer, holder);
}

function writeValues(writer: BlockWriter, element: OpenElement): void {
  for (const { name, text, attributes } of element.values) {
    const isProse = PROSE.has(name) || text.length > MAX_VALUE_LENGTH;
    const written = text + attributeText(attributes);
    writer.add({ text: isProse ? written : `${name}: ${written}` }, { isLine: !isProse });
  }
  // The next record begins after an empty line.
  if (element.values.length > 0) writer.addFinished([]);
  element.values = [];
  element.parts = [];
  element.characters = 0;
}

const asValues = (values: readonly NamedText[]): Value[] =>
  values.map((value) => ({ ...value, attributes: [] }));

/** The attributes of an element that hold data. */
const valuesOf = (element: OpenElement): NamedText[] =>
  element.isInTable ? [] : attributeValues(element.attributes, element.isProse || isNamedAsProse(element));

const isNamedAsProse = ({ name }: OpenElement): boolean =>
  (PROSE.has(name) || SECTIONS.has(name) || STYLED.has(name)) && !ALSO_RECORDS.has(name);

/** The text of an element with its attributes, which are its text where it has no other. In prose they say nothing more. */
function valueOf(element: OpenElement): Value {
  const { name } = element;
  const text = textOf(element);
  if (text === '') return { name, text: joinedValues(valuesOf(element)), attributes: [] };
  const isPlain = element.isProse || isNamedAsProse(element);
  return { name, text, attributes: isPlain ? [] : valuesOf(element) };
}

function textOf({ name, parts, hasText }: OpenElement): string {
  const text = (hasText ? writePieces(parts) : parts.map((part) => part.text).join(' ')).trim();
  if (CODE.has(name)) return text;
  return oneLine(MARKUP.test(text) ? withoutMarkup(text) : text);
}

/** Feeds hold HTML as text. */
function withoutMarkup(text: string): string {
  const html = createHtmlText();
  html.write(text);
  return html.end();
}
