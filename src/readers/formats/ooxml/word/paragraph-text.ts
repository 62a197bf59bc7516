import { attribute } from '../../xml/read-markup.js';
import { writePieces, type Piece } from '../../baseline/pieces.js';
import type { Shift } from '../../baseline/shift.js';
import { gapBeside } from '../../forms/controls.js';
import { writeOmml, type FormulaRun } from '../../formulas/omml.js';
import { signsOf, type SignReader } from '../../signs/sign-reader.js';
import type { Unseen } from '../../visibility/hidden-counter.js';
import type { Fill } from '../../visibility/layers.js';
import { reasonUnseen } from '../../visibility/reason-unseen.js';
import { paragraphText } from '../drawing/text-body.js';
import type { GapCounter } from '../gap-counter.js';
import { findAll, findFirst, isTrue, childOf, childrenOf, textOf, valueOf } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { oldFieldValue, readControl } from './form-fields.js';
import type { NoteKind, Notes } from './notes.js';
import { shiftOf, styleOf, underneath, type RunLook } from './run-look.js';
import type { WordStyles } from './styles.js';

export interface InlineContext {
  readonly gaps: GapCounter;
  readonly styles: WordStyles;
  /** The look that the paragraph gives its runs. */
  readonly look: RunLook;
  /** The fill behind it where neither it nor its runs have a background. */
  readonly ground: Fill;
  /** Called for a reference to a note. @returns the text that stands for it */
  readonly refer: Notes['refer'];
}

export interface ParagraphContent {
  readonly text: string;
  /** The contents of its text boxes. */
  readonly boxes: readonly XmlElement[];
  /** Drawings, which may hold charts and diagrams. */
  readonly drawings: readonly XmlElement[];
}

/** Elements whose text is not text of the document: properties, instructions of fields, readings of characters. */
const SKIPPED: ReadonlySet<string> = new Set([
  'w:pPr',
  'w:rPr',
  'w:sdtPr',
  'w:instrText',
  'w:delInstrText',
  'w:rt',
  'mc:Fallback',
]);
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['w:tab', '\t'],
  ['w:ptab', '\t'],
  ['w:br', '\n'],
  ['w:cr', '\n'],
  ['w:noBreakHyphen', '-'],
]);
const DRAWN: ReadonlySet<string> = new Set([
  'w:txbxContent',
  'a:p',
  'v:textpath',
  'pic:pic',
  'v:imagedata',
  'w:control',
  'o:OLEObject',
]);

/** Reads the text of a paragraph, with the objects anchored in it. */
export function readParagraphText(paragraph: XmlElement, context: InlineContext): ParagraphContent {
  const boxes: XmlElement[] = [];
  const drawings: XmlElement[] = [];
  const { put, putField, isSilent, text } = createInlineWriter(context.gaps);
  const readControlled = (element: XmlElement, outer: RunState): void => {
    const { value, isEmpty } = readControl(childOf(element, 'w:sdtPr'));
    if (isEmpty) context.gaps.skip('field');
    else if (value === undefined) read(element, outer);
    else put(value, runState(findFirst(element, 'w:r'), outer.hidden, context));
  };
  const read = (element: XmlElement, state: RunState): void => {
    for (const child of childrenOf(element)) {
      const { name } = child;
      const note = NOTES.get(name);
      const own = ownText(child, state.look, context.gaps.signs);
      if (own !== undefined) put(own, state);
      else if (name === 'm:oMath') putFormula(child, state);
      else if (name === 'w:fldChar') putField(child, state);
      else if (name === 'w:sdt') readControlled(child, state);
      else if (name === 'w:del' || name === 'w:moveFrom') read(child, { ...state, hidden: 'deleted' });
      else if (name === 'w:r') read(child, runState(child, state.hidden, context));
      else if (name === 'w:drawing' || name === 'w:pict' || name === 'w:object') {
        const shown = shownDrawing(child, state, context.gaps);
        if (!shown) continue;
        drawings.push(shown);
        readDrawing(shown, { boxes, put: (lines) => put(lines, seen(state)), gaps: context.gaps });
      } else if (note) putNote(note, attribute(child.attributes, 'w:id'), state);
      else if (!SKIPPED.has(name)) read(child, state);
    }
  };
  const putNote = (note: NoteKind, id: string, state: RunState): void => {
    const reason = reasonAround(state);
    put(context.refer(note, id, reason), reason === undefined ? state : seen(state));
  };
  const putFormula = (formula: XmlElement, state: RunState): void => {
    if (!isSilent()) put(formulaText(formula, state, context), seen(state));
  };
  read(paragraph, { hidden: undefined, shift: undefined, look: context.look });
  return { text: text(), boxes, drawings };
}

/** Returns the text of an element of a run as it is shown; undefined for one that holds others, or none. */
function ownText(element: XmlElement, look: RunLook, signs: SignReader): string | undefined {
  const { name } = element;
  if (name === 'w:t' || name === 'w:delText') return textInFonts(textOf(element), look, signs);
  return name === 'w:sym' || name === 'w16se:symEx' ? signOf(element, signs) : SIGNS.get(name);
}

/** Returns a formula as one text. Some of its runs may be hidden. */
function formulaText(formula: XmlElement, state: RunState, context: InlineContext): string {
  return writeOmml(formula, ({ run, text, isDeleted }: FormulaRun): boolean => {
    const { hidden } = runState(run, isDeleted ? 'deleted' : state.hidden, context);
    return hidden === undefined || context.gaps.hidden.accepts(hidden, { text });
  });
}

/** Collects the text of a paragraph without the instructions of its fields. */
function createInlineWriter(gaps: GapCounter) {
  const pieces: Piece[] = [];
  const fields = createFields();
  const put = (text: string, { hidden, shift }: RunState): void => {
    if (text === '' || fields.isSilent()) return;
    if (hidden !== undefined && !gaps.hidden.accepts(hidden, { text })) return;
    pieces.push({ text: gapBeside(pieces.at(-1), text), shifts: [] });
    pieces.push({ text, shifts: shift === undefined ? [] : [shift] });
  };
  return {
    put,
    isSilent: () => fields.isSilent(),
    /** Takes the beginning, middle or end of a field. */
    putField: (mark: XmlElement, state: RunState): void => {
      const value = oldFieldValue(childOf(mark, 'w:ffData'));
      if (value !== undefined) put(value, state);
      fields.mark(mark.attributes['w:fldCharType'], { isAnswered: value !== undefined });
    },
    text: () => writePieces(pieces).trim(),
  };
}

const NOTES: ReadonlyMap<string, NoteKind> = new Map([
  ['w:footnoteReference', 'footnote'],
  ['w:endnoteReference', 'endnote'],
  ['w:commentReference', 'comment'],
]);

/** The reason why nothing that a run holds is seen: its drawings and notes, too. Size and colour are of its letters alone. */
const reasonAround = ({ hidden }: RunState): Unseen | undefined =>
  hidden === 'off' || hidden === 'deleted' ? hidden : undefined;

/** The state of what is seen whatever look its run has, and stands on the line. */
const seen = (state: RunState): RunState => ({ ...state, hidden: undefined, shift: undefined });

/** Follows the fields of a paragraph, whose instructions stand before their results. */
function createFields() {
  const open: ('instruction' | 'result' | 'answered')[] = [];
  let silent = 0;
  const end = (): (typeof open)[number] | undefined => {
    const ended = open.pop();
    if (ended !== undefined && ended !== 'result') silent -= 1;
    return ended;
  };
  return {
    /** Tells whether text here is not text of the document. */
    isSilent: () => silent > 0,
    /** @param isAnswered whether the beginning of the field has told its result */
    mark(type: string | undefined, { isAnswered }: { readonly isAnswered: boolean }): void {
      if (type === 'begin') {
        open.push(isAnswered ? 'answered' : 'instruction');
        silent += 1;
      } else if (type === 'separate' && open.at(-1) !== 'answered') {
        end();
        open.push('result');
      } else if (type === 'end') end();
    },
  };
}

/** The state of a run: whether its text is seen, its shift, and its fonts. */
interface RunState {
  readonly hidden: Unseen | undefined;
  readonly shift: Shift | undefined;
  readonly look: RunLook;
}

/** @param hidden the reason why nothing around the run is seen */
function runState(run: XmlElement | undefined, hidden: Unseen | undefined, context: InlineContext): RunState {
  const { styles, look: outer } = context;
  const properties = childOf(run, 'w:rPr');
  const own = styles.ownLook(properties);
  const style = styles.runLook(valueOf(properties, 'w:rStyle'));
  const look = underneath(underneath(own, style), outer);
  const shift = shiftOf(look, outer);
  if (hidden !== undefined) return { hidden, shift, look };
  // A style that hides a text which another one hides already shows it again (ECMA-376 part 1, 17.7.3).
  const isToggled = own.isVanished === undefined && style.isVanished === true && outer.isVanished === true;
  const shown = isToggled ? { ...look, isVanished: false } : look;
  return { hidden: reasonUnseen(styleOf(shown, context.ground)), shift, look };
}

/** Properties of drawings, of shapes and groups in them, and of pictures. */
const PROPERTIES: ReadonlySet<string> = new Set(['wp:docPr', 'wps:cNvPr', 'wpg:cNvPr', 'pic:cNvPr']);

/** Returns the part of a drawing that is shown, unless more is read; undefined for none. */
function shownDrawing(drawing: XmlElement, state: RunState, gaps: GapCounter): XmlElement | undefined {
  const reason = reasonAround(state);
  return reason === undefined || gaps.hidden.accepts(reason) ? shownPart(drawing, gaps) : undefined;
}

/** Returns a drawing without what of it is not shown, unless that is read; undefined where all of it is not shown. */
function shownPart(drawing: XmlElement, gaps: GapCounter): XmlElement | undefined {
  if (isHidden(drawing) && !gaps.hidden.accepts('off')) return undefined;
  const children = drawing.children.flatMap((child) => {
    // The drawings in a text box are read with its paragraphs.
    const isWhole =
      typeof child === 'string' || child.name === 'w:txbxContent' || child.name === 'mc:Fallback';
    return isWhole ? [child] : (shownPart(child, gaps) ?? []);
  });
  return { ...drawing, children };
}

function isHidden(shape: XmlElement): boolean {
  if (/(?:^|;)\s*visibility\s*:\s*hidden/i.test(attribute(shape.attributes, 'style'))) return true;
  const own = shape.name === 'pic:pic' ? childOf(shape, 'pic:nvPicPr') : shape;
  for (const { name, attributes } of childrenOf(own))
    if (PROPERTIES.has(name) && isTrue(attributes['hidden'])) return true;
  return false;
}

interface DrawingTarget {
  readonly boxes: XmlElement[];
  readonly put: (text: string) => void;
  readonly gaps: GapCounter;
}

/** Takes text boxes, lettering and texts of shapes out of a drawing, and counts pictures and embedded objects. */
function readDrawing(drawing: XmlElement, { boxes, put, gaps }: DrawingTarget): void {
  const found = [...findAll(drawing, DRAWN)];
  const isObject = found.some(({ name }) => name === 'o:OLEObject');
  const isControl = found.some(({ name }) => name === 'w:control');
  if (isObject) gaps.skip('object');
  if (isControl) gaps.skip('control');
  const lines: string[] = [];
  for (const element of found) {
    if (element.name === 'w:txbxContent') boxes.push(element);
    else if (element.name === 'v:textpath')
      lines.push(isTrue(element.attributes['on'] ?? 't') ? attribute(element.attributes, 'string') : '');
    else if (element.name === 'a:p') lines.push(paragraphText(element, { signs: gaps.signs }));
    else if (element.name !== 'o:OLEObject' && !isObject && !isControl) gaps.skip('picture');
  }
  const texts = lines.filter((line) => line.trim() !== '');
  // The words of shapes stand apart from each other, and from the words around the drawing.
  if (texts.length > 0) put(`\n${texts.join('\n')}\n`);
}

type Fonts = Pick<RunLook, 'asciiFont' | 'otherFont'>;

/** The text of a run as it is shown: symbol fonts show other signs than its characters. */
function textInFonts(text: string, { asciiFont, otherFont }: Fonts, signs: SignReader): string {
  if (signsOf(asciiFont) === signsOf(otherFont)) return signs.read(text, otherFont);
  // Characters beyond Latin-1 are in no other font than the symbol font.
  const symbolFont = signsOf(otherFont) === undefined ? asciiFont : otherFont;
  return text.replace(/[\0-\x7f]+|[\x80-\xff]+|[^\0-\xff]+/g, (part) => {
    const code = part.charCodeAt(0);
    return signs.read(part, code < 0x80 ? asciiFont : code < 0x100 ? otherFont : symbolFont);
  });
}

/**
 * Returns the sign that an element stands for (`w:sym`, or the element of later versions of Word for characters beyond
 * FFFF).
 */
function signOf({ name, attributes }: XmlElement, signs: SignReader): string {
  const [code, font] =
    name === 'w:sym'
      ? [attributes['w:char'], attributes['w:font']]
      : [attributes['w16se:char'], attributes['w16se:font']];
  if (code === undefined || !/^[\da-f]{1,6}$/i.test(code)) return '';
  const number = Number.parseInt(code, 16);
  return number > 0x10_ffff ? '' : signs.read(String.fromCodePoint(number), font);
}
