import { findAll, isTrue, childOf, childrenOf, textOf, valueOf } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { Fill } from '../../visibility/layers.js';
import { writePieces, type Piece } from '../../baseline/pieces.js';
import type { Shift } from '../../baseline/shift.js';
import { writeOmml, type FormulaRun } from '../../formulas/omml.js';
import { paragraphText } from '../drawing/text-body.js';
import type { GapCounter, HiddenKind } from '../gap-counter.js';
import { isUnseen } from './colors.js';
import { shiftOf, underneath, type RunLook } from './run-look.js';
import type { WordStyles } from './styles.js';

export interface InlineContext {
  readonly gaps: GapCounter;
  readonly styles: WordStyles;
  /** How the paragraph makes its runs look. */
  readonly look: RunLook;
  /** What is behind it where neither it nor its runs have a background. */
  readonly ground: Fill;
  /** Called for a reference to a note. @returns what stands for it in the text */
  readonly refer: (kind: 'footnote' | 'endnote' | 'comment', id: string) => string;
}

export interface ParagraphContent {
  readonly text: string;
  /** The contents of its text boxes. */
  readonly boxes: readonly XmlElement[];
  /** What may hold charts and diagrams. */
  readonly drawings: readonly XmlElement[];
}

/** Elements whose text is not that of the document: properties, instructions of fields, readings of characters. */
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
  'o:OLEObject',
]);

/** Reads the text of a paragraph, with what is anchored in it. */
export function readParagraphText(paragraph: XmlElement, context: InlineContext): ParagraphContent {
  const pieces: Piece[] = [];
  const boxes: XmlElement[] = [];
  const drawings: XmlElement[] = [];
  const fields = createFields();
  const put = (text: string, { hidden, shift }: RunState): void => {
    if (text === '' || fields.isInstruction()) return;
    if (hidden === undefined || context.gaps.admits(hidden, { amount: text.length }))
      pieces.push({ text, shifts: shift === undefined ? [] : [shift] });
  };
  const read = (element: XmlElement, state: RunState): void => {
    for (const child of childrenOf(element)) {
      const { name } = child;
      const note = NOTES.get(name);
      const sign = SIGNS.get(name);
      if (sign !== undefined) put(sign, state);
      else if (name === 'w:t' || name === 'w:delText') put(textOf(child), state);
      else if (name === 'm:oMath') putFormula(child, state);
      else if (name === 'w:fldChar') fields.mark(child.attributes['w:fldCharType']);
      else if (name === 'w:del' || name === 'w:moveFrom') read(child, { ...state, hidden: 'deleted' });
      else if (name === 'w:r') read(child, runState(child, state.hidden, context));
      else if (name === 'w:drawing' || name === 'w:pict' || name === 'w:object') {
        drawings.push(child);
        readDrawing(child, { boxes, put: (text) => put(text, state), gaps: context.gaps });
      } else if (note) put(context.refer(note, child.attributes['w:id'] ?? ''), state);
      else if (!SKIPPED.has(name) || isOnlyChoice(element)) read(child, state);
    }
  };
  // A formula is one text, of which runs may be hidden.
  const putFormula = (formula: XmlElement, state: RunState): void => {
    const admits = ({ run, text, isDeleted }: FormulaRun): boolean => {
      const { hidden } = runState(run, isDeleted ? 'deleted' : state.hidden, context);
      return hidden === undefined || context.gaps.admits(hidden, { amount: text.length });
    };
    const text = fields.isInstruction() ? '' : writeOmml(formula, admits);
    if (text !== '') pieces.push({ text, shifts: [] });
  };
  read(paragraph, ORDINARY);
  return { text: writePieces(pieces).trim(), boxes, drawings };
}

const NOTES: ReadonlyMap<string, 'footnote' | 'endnote' | 'comment'> = new Map([
  ['w:footnoteReference', 'footnote'],
  ['w:endnoteReference', 'endnote'],
  ['w:commentReference', 'comment'],
]);

/** An alternative without a choice has its fallback alone. */
const isOnlyChoice = (element: XmlElement): boolean =>
  element.name === 'mc:AlternateContent' && childOf(element, 'mc:Choice') === undefined;

/** Follows the fields of a paragraph, whose instructions stand before their results. */
function createFields() {
  const open: boolean[] = [];
  let instructions = 0;
  const set = (isInstruction: boolean | undefined): void => {
    if (open.pop() === true) instructions -= 1;
    if (isInstruction === undefined) return;
    open.push(isInstruction);
    if (isInstruction) instructions += 1;
  };
  return {
    isInstruction: () => instructions > 0,
    mark(type: string | undefined): void {
      if (type === 'begin') {
        open.push(false);
        set(true);
      } else if (type === 'separate') set(false);
      else if (type === 'end') set(undefined);
    },
  };
}

/** Whether the text of a run is seen, and where it stands. */
interface RunState {
  readonly hidden: HiddenKind | undefined;
  readonly shift: Shift | undefined;
}

const ORDINARY: RunState = { hidden: undefined, shift: undefined };

/** @param hidden why nothing of what holds the run is seen */
function runState(run: XmlElement, hidden: HiddenKind | undefined, context: InlineContext): RunState {
  const { styles, look: outer } = context;
  const properties = childOf(run, 'w:rPr');
  const own = styles.ownLook(properties);
  const style = styles.runLook(valueOf(properties, 'w:rStyle'));
  const look = underneath(underneath(own, style), outer);
  const shift = shiftOf(look, outer);
  if (hidden !== undefined) return { hidden, shift };
  // A style that hides what another one hides already shows it again (ECMA-376 part 1, 17.7.3).
  const isToggled = own.isVanished === undefined && style.isVanished === true && outer.isVanished === true;
  return {
    hidden: isToggled ? hiddenKind({ ...look, isVanished: false }, context) : hiddenKind(look, context),
    shift,
  };
}

function hiddenKind(look: RunLook, { ground }: InlineContext): HiddenKind | undefined {
  if (look.isVanished === true) return 'vanished';
  if (look.isTiny === true) return 'tiny';
  const { background = 'none' } = look;
  const behind = background === 'none' ? ground : background;
  return look.isOutlined !== true && isUnseen(look.color, behind) ? 'background' : undefined;
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
  if (isObject) gaps.skip('object');
  const lines: string[] = [];
  for (const element of found) {
    if (element.name === 'w:txbxContent') boxes.push(element);
    else if (element.name === 'v:textpath')
      lines.push(isTrue(element.attributes['on'] ?? 't') ? (element.attributes['string'] ?? '') : '');
    else if (element.name === 'a:p') lines.push(paragraphText(element));
    else if (element.name !== 'o:OLEObject' && !isObject) gaps.skip('picture');
  }
  const texts = lines.filter((line) => line.trim() !== '');
  // The words of shapes stand apart from each other, and from those around the drawing.
  if (texts.length > 0) put(`\n${texts.join('\n')}\n`);
}
