import { writePieces, type Piece } from '../baseline/pieces.js';
import {
  contentControlText,
  createFieldMarks,
  createOdfControls,
  type FieldMarks,
  type OdfControls,
} from '../forms/odf-controls.js';
import { gapBeside } from '../forms/controls.js';
import type { SignReader } from '../signs/sign-reader.js';
import type { Color } from '../visibility/colors.js';
import type { HiddenCounter, Unseen } from '../visibility/hidden-counter.js';
import { reasonUnseen } from '../visibility/reason-unseen.js';
import { MAX_DEPTH } from '../shallow-parser.js';
import { attribute, type Attributes, type MarkupHandler } from '../xml/read-markup.js';
import { inherit, isOffScreen, styleOf, type StyleLook, type Styles } from './styles.js';

export interface OdfParagraph {
  readonly text: string;
  /** The level of a heading. */
  readonly heading?: number | undefined;
  /** True for a footnote or endnote of the paragraph before. */
  readonly isNote: boolean;
}

interface ParagraphOptions {
  readonly styles: Styles;
  readonly hidden: HiddenCounter;
  readonly signs: SignReader;
  /** The colour behind text now; undefined when it is not known. */
  readonly behind: () => Color | undefined;
  /** Returns the look of text now where neither its paragraph nor the text itself says it. */
  readonly outerLook?: (() => StyleLook) | undefined;
  /** Returns the reason why the elements around the text are not seen now. */
  readonly reasonAround?: (() => Unseen | undefined) | undefined;
  /** Called for a field whose placeholder nobody has filled in. */
  readonly onEmptyField?: (() => void) | undefined;
  readonly onParagraph: (paragraph: OdfParagraph) => void;
}

const PARAGRAPHS = new Set(['text:p', 'text:h', 'svg:title', 'svg:desc']);
/** Elements whose text is not text of the document, such as numbers of pages and readings above characters. */
const IGNORED = new Set([
  'text:page-number',
  'text:page-count',
  'text:ruby-text',
  'office:binary-data',
  'office:event-listeners',
  'text:note-continuation-notice-forward',
  'text:note-continuation-notice-backward',
]);
const HIDDEN: ReadonlyMap<string, Unseen> = new Map<string, Unseen>([
  ['office:annotation', 'comment'],
  ['text:tracked-changes', 'deleted'],
  ['table:tracked-changes', 'deleted'],
  ['table:covered-table-cell', 'merged'],
]);
/** The least depth of the elements around the ones that are read here. */
const OUTER_DEPTH = 8;
const MAX_SPACES = 8;
const MAX_HEADING_DEPTH = 9;

interface OpenParagraph {
  readonly depth: number;
  readonly pieces: Piece[];
  readonly heading: number | undefined;
  readonly notes: string[];
  readonly isInNote: boolean;
  readonly shift: StyleLook['shift'];
  isHidden: boolean;
}

interface State {
  depth: number;
  /** The depth of an element whose text is left out; 0 for none. */
  ignored: number;
  /** A text box or a note is inside a paragraph, so that several are open. */
  readonly open: OpenParagraph[];
  readonly looks: { readonly depth: number; readonly look: StyleLook }[];
  readonly hidden: { readonly depth: number; readonly kind: Unseen }[];
  /** The marks of the notes that are open. */
  readonly notes: { readonly depth: number; mark: string }[];
  readonly fields: FieldMarks;
  readonly controls: OdfControls;
}

interface OdfParagraphs extends MarkupHandler {
  /** Adds text where a file has an object: to the paragraph around it, or as one of its own. */
  addObject(text: string): void;
}

/** Collects the text of paragraphs, with their notes after them. Paragraphs inside others come first. */
export function createParagraphs(options: ParagraphOptions): OdfParagraphs {
  const state: State = {
    depth: 0,
    ignored: 0,
    open: [],
    looks: [],
    hidden: [],
    notes: [],
    fields: createFieldMarks(),
    controls: createOdfControls(),
  };
  const append = createAppend(state, options);
  return {
    addObject: (text) => {
      if (state.open.length > 0) append(text);
      else if (state.hidden.length === 0 && state.ignored === 0) options.onParagraph({ text, isNote: false });
    },
    open: (name, attributes) => {
      state.depth += 1;
      if (state.ignored > 0) return;
      if (IGNORED.has(name) || isLeftOut(attributes, options)) state.ignored = state.depth;
      const kind = HIDDEN.get(name) ?? (isUndisplayed(state, name, attributes) ? 'off' : undefined);
      if (kind !== undefined) state.hidden.push({ depth: state.depth, kind });
      openElement(state, { name, attributes, options });
      append(inlineText(name, attributes));
      openControl(state, { name, attributes, options }, append);
    },
    close: (name) => {
      if (name === 'text:note-citation') append(']');
      append(state.fields.close(name));
      state.controls.close(name);
      closeElement(state, options);
      state.depth -= 1;
    },
    text: (text) => addText(state, text, { append, onParagraph: options.onParagraph }),
  };
}

/**
 * Tells whether a section, a field, or the head or foot of pages is not displayed, be it by a condition that held when the
 * file was written. A text box or a note is not, where the text is not that holds it.
 */
function isUndisplayed({ looks }: State, name: string, attributes: Attributes): boolean {
  if (PARAGRAPHS.has(name)) return looks.at(-1)?.look.isUndisplayed === true;
  if (name === 'text:hidden-text') return isHiddenNow(attributes);
  const display = attributes['text:display'];
  return (
    display === 'none' ||
    (display === 'condition' && isHiddenNow(attributes)) ||
    attributes['style:display'] === 'false'
  );
}

/** Tells whether the condition of a section or a field held. LibreOffice says nothing where it did not. */
const isHiddenNow = (attributes: Attributes): boolean => attributes['text:is-hidden'] === 'true';

/** Tells whether all of a shape is left out, since it is not shown, and counts it. */
function isLeftOut(attributes: Attributes, { styles, hidden }: ParagraphOptions): boolean {
  const isHidden = isOffScreen(attributes) || styles.hidesLayer(attribute(attributes, 'draw:layer'));
  return isHidden && !hidden.accepts('off');
}

interface TextTarget {
  readonly append: (text: string) => void;
  readonly onParagraph: ParagraphOptions['onParagraph'];
}

function addText(state: State, text: string, { append, onParagraph }: TextTarget): void {
  const note = state.notes.at(-1);
  // The mark of a note is the text before its body.
  if (note && state.open.at(-1)?.isInNote === false) note.mark += text.trim();
  const line = text.replace(/[\t\n\r ]+/g, ' ');
  // The text of elements that are nested too deeply to be followed is in no paragraph.
  if (state.depth >= MAX_DEPTH - OUTER_DEPTH && state.open.length === 0 && line.trim() !== '')
    onParagraph({ text: line.trim(), isNote: false });
  else append(line);
}

/** Adds text to the innermost paragraph, as it is shown, unless nobody sees it. */
function createAppend(state: State, options: ParagraphOptions): (written: string) => void {
  return (written) => {
    const paragraph = state.open.at(-1);
    if (!paragraph || state.ignored > 0 || written === '') return;
    const text = options.signs.read(written, state.looks.at(-1)?.look.font);
    const look = state.looks.at(-1)?.look ?? {};
    const off = state.hidden[0]?.kind ?? options.reasonAround?.();
    const kind = off ?? reasonUnseen(styleOf(look, options.behind));
    if (kind !== undefined && !options.hidden.accepts(kind, { text })) return;
    const { shift = 'none' } = look;
    // A paragraph that is raised as a whole stands above nothing.
    const isRaised = shift !== 'none' && shift !== paragraph.shift;
    const gap = gapBeside(paragraph.pieces.at(-1), text);
    paragraph.pieces.push({ text: gap, shifts: [] }, { text, shifts: isRaised ? [shift] : [] });
  };
}

/** Reads the text of form controls: of controls that stand in a paragraph or by themselves, and of controls around text. */
function openControl(
  state: State,
  { name, attributes, options }: OpenedElement,
  append: (text: string) => void,
): void {
  state.fields.open(name, attributes);
  state.controls.open(name, attributes);
  if (name === 'draw:control') {
    const text = state.controls.textOf(attribute(attributes, 'draw:control'));
    if (state.open.length > 0) append(text);
    else if (text.trim() !== '' && state.ignored === 0)
      options.onParagraph({ text: text.trim(), isNote: false });
  }
  const control = name === 'loext:content-control' ? contentControlText(attributes) : undefined;
  if (control === undefined) return;
  append(control);
  if (control === '') options.onEmptyField?.();
  // Its text is only the sign for its state, or a placeholder that nobody has filled in.
  state.ignored ||= state.depth;
}

function inlineText(name: string, attributes: Attributes): string {
  if (name === 'text:s') {
    const count = Number.parseInt(attributes['text:c'] ?? '1', 10);
    return ' '.repeat(Math.min(Math.max(count || 1, 1), MAX_SPACES));
  }
  if (name === 'text:tab') return '\t';
  if (name === 'text:line-break') return '\n';
  return name === 'text:note-citation' ? '[' : '';
}

interface OpenedElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly options: ParagraphOptions;
}

function openElement(state: State, { name, attributes, options }: OpenedElement): void {
  const { styles } = options;
  const { depth } = state;
  if (PARAGRAPHS.has(name)) {
    const level = Number.parseInt(attributes['text:outline-level'] ?? '1', 10) || 1;
    const own = styles.look('paragraph', attributes['text:style-name']);
    const look = inherit(options.outerLook?.() ?? {}, own);
    state.open.push({
      depth,
      pieces: [],
      heading: name === 'text:h' ? Math.min(Math.max(level, 1), MAX_HEADING_DEPTH) : undefined,
      notes: [],
      isInNote: state.notes.length > 0,
      shift: look.shift,
      isHidden: false,
    });
    state.looks.push({ depth, look });
  } else if (name === 'text:span') {
    const look = inherit(state.looks.at(-1)?.look ?? {}, styles.look('text', attributes['text:style-name']));
    state.looks.push({ depth, look });
  } else if (name === 'text:note') state.notes.push({ depth, mark: '' });
  else if (name === 'text:hidden-paragraph' && isHiddenNow(attributes)) {
    const paragraph = state.open.at(-1);
    if (paragraph) paragraph.isHidden = true;
  }
}

function closeElement(state: State, { hidden, onParagraph }: ParagraphOptions): void {
  const { depth } = state;
  if (state.ignored === depth) state.ignored = 0;
  if (state.hidden.at(-1)?.depth === depth) state.hidden.pop();
  if (state.looks.at(-1)?.depth === depth) state.looks.pop();
  if (state.notes.at(-1)?.depth === depth) state.notes.pop();
  const paragraph = state.open.at(-1);
  if (paragraph?.depth !== depth) return;
  state.open.pop();
  const text = writePieces(paragraph.pieces).trim();
  if (text === '' || (paragraph.isHidden && !hidden.accepts('off', { text }))) return;
  const note = state.notes.at(-1);
  const holder = state.open.findLast(({ isInNote }) => !isInNote);
  if (note && paragraph.isInNote && holder) {
    holder.notes.push(note.mark === '' ? text : `[${note.mark}] ${text}`);
    note.mark = '';
    return;
  }
  onParagraph({ text, heading: paragraph.heading, isNote: false });
  for (const noteText of paragraph.notes) onParagraph({ text: noteText, isNote: true });
}
