import { createBlockWriter, type BlockWriter } from '../../extraction/block-writer.js';
import type { Block } from '../../extraction/block.js';
import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import { createHtmlText } from '../html/html-text.js';
import type { Attributes, MarkupHandler } from './read-markup.js';

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
const LONGEST_VALUE = 300;
/** Attributes that are for programs. */
const TECHNICAL = new Set('id class style role href src type lang version rend key ref'.split(' '));
const DEEPEST_HEADING = 9;
/** Text that is markup itself. */
const MARKUP = /<\/?[a-z][^<>]{0,200}>/i;
/** A record is written when it has as many values as this, or as many characters. */
const MOST_VALUES = 500;
const MOST_CHARACTERS = 65_536;

const CODE = new Set(['programlisting', 'screen', 'literallayout', 'code', 'pre']);

interface Value {
  readonly name: string;
  readonly text: string;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Attributes;
  /** Its text and the texts of the elements in it, in order. */
  parts: string[];
  /** The elements in it, as values of a record, which they are unless it has text of its own. */
  values: Value[];
  characters: number;
  hasText: boolean;
  hasElements: boolean;
}

interface State {
  readonly writer: BlockWriter;
  readonly receipt: ReceiptWriter;
  readonly open: OpenElement[];
  sections: number;
  hasTitle: boolean;
}

export interface Elements extends MarkupHandler {
  readonly take: () => Block[];
  readonly end: () => Block[];
}

/** Makes blocks of elements: of those among text one text, of others the values of a record. */
export function createElements(receipt: ReceiptWriter): Elements {
  const writer = createBlockWriter();
  const state: State = { writer, receipt, open: [], sections: 0, hasTitle: false };
  return {
    open: (name, attributes) => openElement(state, localName(name), attributes),
    close: () => closeElement(state),
    text: (text) => {
      const element = state.open.at(-1);
      if (!element) return;
      if (text.trim() !== '') element.hasText = true;
      element.parts.push(text);
    },
    take: writer.take,
    end: writer.end,
  };
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

function openElement(state: State, name: string, attributes: Attributes): void {
  const holder = state.open.at(-1);
  if (!holder) state.receipt.setLanguage(attributes['xml:lang'] ?? '');
  if (holder?.hasElements === false && !holder.hasText) {
    const before = state.open.at(-2);
    // What holds the record that begins here goes first.
    if (before && !before.hasText) writeValues(state.writer, before);
    holder.values.push(...attributeValues(holder.attributes));
  }
  if (holder) holder.hasElements = true;
  if (SECTIONS.has(name)) state.sections += 1;
  state.open.push({
    name,
    attributes,
    parts: [],
    values: [],
    characters: 0,
    hasText: false,
    hasElements: false,
  });
}

function closeElement(state: State): void {
  const element = state.open.pop();
  if (!element) return;
  const holder = state.open.at(-1);
  const isRecord = element.hasElements && !element.hasText && holder?.hasText !== true;
  if (isRecord) writeValues(state.writer, element);
  else if (holder) addValue(state, holder, { name: element.name, text: textOf(element) });
  else state.writer.add({ text: textOf(element) });
  if (SECTIONS.has(element.name)) state.sections -= 1;
}

function addValue(state: State, holder: OpenElement, value: Value): void {
  if (value.text === '') return;
  if (value.name === 'title' && !state.hasTitle) {
    state.receipt.setTitle(value.text);
    state.hasTitle = true;
  }
  if (TITLES.has(value.name) && SECTIONS.has(holder.name) && !holder.hasText) {
    writeValues(state.writer, holder);
    state.writer.add({ text: value.text, heading: Math.min(state.sections, DEEPEST_HEADING) });
    return;
  }
  holder.values.push(value);
  holder.parts.push(value.text);
  holder.characters += value.text.length;
  if (!holder.hasText && (holder.values.length >= MOST_VALUES || holder.characters > MOST_CHARACTERS))
    writeValues(state.writer, holder);
}

function writeValues(writer: BlockWriter, element: OpenElement): void {
  for (const { name, text } of element.values) {
    const isProse = PROSE.has(name) || text.length > LONGEST_VALUE;
    writer.add({ text: isProse ? text : `${name}: ${text}` }, { isLine: !isProse });
  }
  // The next record begins after an empty line.
  if (element.values.length > 0) writer.addFinished([]);
  element.values = [];
  element.parts = [];
  element.characters = 0;
}

function textOf({ name, parts, hasText, attributes }: OpenElement): string {
  const text = parts.join(hasText ? '' : ' ').trim();
  if (text === '')
    return attributeValues(attributes)
      .map((value) => `${value.name}: ${value.text}`)
      .join('; ');
  if (CODE.has(name)) return text;
  return (MARKUP.test(text) ? withoutMarkup(text) : text).replace(/\s+/g, ' ').trim();
}

/** Feeds hold HTML as text. */
function withoutMarkup(text: string): string {
  const html = createHtmlText();
  html.write(text);
  return html.end();
}

/** Attributes that hold data, as values of their element. */
function attributeValues(attributes: Attributes): Value[] {
  return Object.entries(attributes)
    .filter(
      ([name, text]) => !name.includes(':') && !TECHNICAL.has(name) && name !== 'xmlns' && text.trim() !== '',
    )
    .map(([name, text]) => ({ name, text: text.replace(/\s+/g, ' ').trim() }));
}
