import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { createFormField, type RtfFormField } from '../forms/rtf-field.js';
import { createSignReader, signsOf, type SignReader } from '../signs/sign-reader.js';
import { createHiddenCounter, type HiddenCounter } from '../visibility/hidden-counter.js';
import { reasonUnseen } from '../visibility/reason-unseen.js';
import { createPendingBytes, languageOf, type PendingBytes } from './charsets.js';
import {
  createDestinationTexts,
  createShapeProperty,
  destinationOf,
  type DestinationTexts,
  type Destination,
  type ShapeProperty,
} from './destinations.js';
import { createRtfTables, type RtfTables } from './document-tables.js';
import { createFormulaCollector, type FormulaCollector } from './formula.js';
import { changeState, shiftOf, styleOf, createGroupStack, within, type GroupStack } from './group-state.js';
import { createParagraphs, type Paragraphs } from './paragraphs.js';
import { numberOrZero, rtfTokens, CHARACTERS, type RtfToken } from './tokens.js';

const TOKENS_AT_ONCE = 4_096;

/** Reads RTF 1.9.1: paragraphs, headings, lists, tables and notes. A file that is cut off is read to its end. */
export function* parseRtf(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  receipt.setParser('rtf', '1');
  if (!Buffer.from(bytes.subarray(0, 64)).toString('latin1').trimStart().startsWith('{\\rtf'))
    throw new ReadError('corrupt', 'The file is no RTF.');
  const hidden = createHiddenCounter(context);
  const reader = createReader({ hidden, receipt });
  let count = 0;
  for (const token of rtfTokens(bytes)) {
    reader.add(token);
    count += 1;
    if (count % TOKENS_AT_ONCE === 0) yield* reader.take();
  }
  yield* reader.end();
  hidden.report();
}

interface Reader {
  readonly hidden: HiddenCounter;
  readonly receipt: ReceiptWriter;
  readonly tables: RtfTables;
  readonly paragraphs: Paragraphs;
  readonly groups: GroupStack;
  readonly bytes: PendingBytes;
  readonly texts: DestinationTexts;
  readonly form: RtfFormField;
  readonly signs: SignReader;
  readonly formula: FormulaCollector;
  readonly shape: ShapeProperty;
  readonly state: State;
}

interface State {
  /** The start of a group: just begun, or optional, so that readers may skip it. */
  start: 'none' | 'begun' | 'optional';
  notes: number;
  pictures: number;
  /** The text that a field shows by its instruction. */
  answer: string | undefined;
  /** True if the field has shown that text, so that the result that follows says nothing more. */
  isAnswered: boolean;
  /** True if signs of the current font come in the private use area, so that letters in it are not signs. */
  hasPrivateSigns: boolean;
  /** True if pages may have another colour than paper. */
  hasPageColor: boolean;
}

const newState = (): State => ({
  start: 'none',
  notes: 0,
  pictures: 0,
  answer: undefined,
  isAnswered: false,
  hasPrivateSigns: false,
  hasPageColor: false,
});

const PARAGRAPH_ENDS = new Set(['par', 'sect', 'page', 'column']);

/** Makes blocks of tokens. Pictures, fields and groups that only programs need are left out as they come. */
function createReader(options: Pick<Reader, 'hidden' | 'receipt'>) {
  const paragraphs = createParagraphs((text) => options.hidden.accepts('merged', { text }));
  const form = createFormField();
  const reader: Reader = {
    ...options,
    paragraphs,
    tables: createRtfTables(),
    groups: createGroupStack(),
    bytes: createPendingBytes(),
    texts: createDestinationTexts({ form, paragraphs, receipt: options.receipt }),
    form,
    signs: createSignReader(options.receipt),
    formula: createFormulaCollector(),
    shape: createShapeProperty(),
    state: newState(),
  };
  return {
    add: (token: RtfToken) => {
      addToken(reader, token);
    },
    take: () => paragraphs.writer.take(),
    end: () => {
      flushBytes(reader);
      addFormula(reader, reader.formula.end());
      paragraphs.end();
      reader.texts.end();
      reader.signs.report();
      const { pictures } = reader.state;
      if (pictures > 0) options.receipt.addGap('skipped', `${String(pictures)} pictures are not read.`);
      return paragraphs.writer.end();
    },
  };
}

function addToken(reader: Reader, token: RtfToken): void {
  switch (token.kind) {
    case 'open':
    case 'close':
      changeGroup(reader, token.kind);
      break;
    case 'control':
      control(reader, token.word, token.parameter);
      break;
    case 'bytes':
      addBytes(reader, token.bytes);
      break;
  }
}

function changeGroup(reader: Reader, change: 'open' | 'close'): void {
  flushBytes(reader);
  const { state, bytes, groups, texts, form, formula } = reader;
  bytes.skip(0);
  state.hasPrivateSigns = false;
  state.start = change === 'open' ? 'begun' : 'none';
  if (change === 'open') {
    groups.open();
    formula.openGroup();
  } else {
    const ended = groups.close();
    addFormula(reader, formula.closeGroup());
    if (ended !== undefined) texts.endGroup(ended);
    if (ended === 'form') {
      const answer = form.take();
      if (!groups.current.isLeftOut) state.answer = answer;
    } else if (ended === 'ignored') {
      addAnswer(reader);
      if (reader.shape.end() && !reader.hidden.accepts('off')) leaveOut(groups);
    }
  }
}

/** Leaves out what follows in a group. */
function leaveOut(groups: GroupStack): void {
  groups.current = { ...groups.current, destination: 'ignored', isLeftOut: true };
}

function control(reader: Reader, word: string, parameter: number | undefined): void {
  const { state, groups, bytes } = reader;
  if (word === 'u') {
    addUnicode(reader, parameter);
    return;
  }
  flushBytes(reader);
  const { start } = state;
  if (word === '*') {
    if (start === 'begun') state.start = 'optional';
    return;
  }
  state.start = 'none';
  const isIgnored = groups.current.destination === 'ignored';
  const destination = readDestination(reader, word, start === 'optional');
  if (destination !== undefined) {
    if (word === 'pict' && !isIgnored) state.pictures += 1;
    if (word === 'sp' && !isIgnored && groups.current.isInShape) reader.shape.begin();
    if (!isIgnored || destination === 'title' || destination === 'form')
      groups.current = within(groups.current, destination);
    return;
  }
  if (isIgnored) reader.shape.control(word);
  if (isIgnored || (CHARACTERS.has(word) && bytes.skipsCharacter())) return;
  if (start !== 'none') reader.formula.begin(word);
  if (!applyToTables(reader, word, parameter)) applyControl(reader, word, parameter);
}

/** Puts the text of a field behind its instruction. */
function addAnswer(reader: Reader): void {
  const { state } = reader;
  if (state.answer === undefined) return;
  addText(reader, state.answer);
  state.answer = undefined;
  state.isAnswered = true;
}

function readDestination({ state }: Reader, word: string, isOptional: boolean): Destination | undefined {
  if (word === 'field') state.isAnswered = false;
  else if (word === 'background') state.hasPageColor = true;
  return word === 'fldrslt' && state.isAnswered ? 'ignored' : destinationOf(word, isOptional);
}

/** Applies a control word that tells something of the whole file. Returns false for any other. */
function applyToTables({ groups, tables, receipt, form }: Reader, word: string, number = 0): boolean {
  const { destination } = groups.current;
  if (destination === 'fonts') tables.font(word, number);
  else if (destination === 'colors') tables.color(word, number);
  else if (destination === 'styles') tables.style(word, number);
  else if (destination === 'form') form.control(word, number);
  else if (word === 'ansicpg') tables.setCodePage(number);
  else if (word === 'mac') tables.setCodePage(10_000);
  else if (word === 'deff') tables.setDefaultFont(number);
  else if (word === 'deflang') receipt.setLanguage(languageOf(number) ?? '');
  else return false;
  return true;
}

function applyControl(reader: Reader, word: string, parameter: number | undefined): void {
  const { groups, tables, paragraphs } = reader;
  const { destination } = groups.current;
  groups.current = changeState(groups.current, word, parameter) ?? groups.current;
  if (word === 'f' || word === 'plain') reader.state.hasPrivateSigns = false;
  const character = word === 'chftn' ? noteMark(reader) : CHARACTERS.get(word);
  if (character !== undefined) addText(reader, character);
  else if (destination !== 'body') {
    if (PARAGRAPH_ENDS.has(word)) addText(reader, '\n');
  } else if (PARAGRAPH_ENDS.has(word)) paragraphs.endParagraph();
  else if (word === 'cell') paragraphs.endCell();
  else if (word === 'row') paragraphs.table.endRow();
  else {
    const number = numberOrZero(parameter);
    paragraphs.table.control(word, number);
    paragraphs.control(word, parameter, tables.headingOf(number));
  }
}

/** The number of a note, which stands in the text and before the note itself. */
function noteMark({ state, groups }: Reader): string {
  if (groups.current.destination === 'body') state.notes += 1;
  return `[${String(state.notes)}] `;
}

function addUnicode(reader: Reader, parameter = 0): void {
  flushBytes(reader);
  const { state, groups, bytes } = reader;
  state.start = 'none';
  const unit = parameter < 0 ? parameter + 65_536 : parameter;
  state.hasPrivateSigns ||= unit >= 0xf000 && unit <= 0xf0ff;
  if (unit > 0 && unit < 65_536) addText(reader, String.fromCharCode(unit));
  bytes.skip(groups.current.fallbackLength);
}

function addBytes({ state, groups, tables, bytes: pending, shape }: Reader, bytes: Uint8Array): void {
  state.start = 'none';
  const { destination, font } = groups.current;
  if (destination === 'ignored') shape.bytes(bytes);
  if (destination === 'ignored' || destination === 'form' || destination === 'styles') return;
  if (destination === 'fonts') {
    tables.nameFont(Buffer.from(bytes).toString('latin1'));
    return;
  }
  if (destination === 'colors') {
    for (const byte of bytes) if (byte === 0x3b) tables.endColor();
    return;
  }
  pending.add(bytes, () => tables.codePageOf(font));
}

function flushBytes(reader: Reader): void {
  const text = reader.bytes.take();
  if (text !== undefined) addText(reader, text);
}

function addText(reader: Reader, written: string): void {
  const { groups, tables, paragraphs, hidden, signs, state } = reader;
  const { destination, font } = groups.current;
  if (destination === 'ignored' || destination === 'form') return;
  const isPlain = state.hasPrivateSigns && written < '\uf000';
  const isBullet = destination === 'mark' && /^[\uf020-\uf0ff]$/.test(written);
  // LibreOffice does not name the font of bullets. A bullet in an unknown font is only known to be one.
  const fontName = tables.fontName(font);
  const text = isPlain || (isBullet && !signsOf(fontName)) ? written : signs.read(written, fontName);
  const isOnPage = (): boolean => !state.hasPageColor && paragraphs.isOnPage();
  const kind = reasonUnseen(styleOf(groups.current, tables.colorOf, isOnPage));
  if (kind !== undefined && !hidden.accepts(kind, { text })) return;
  if (reader.formula.isOpen()) reader.formula.text(text);
  else addPiece(reader, text);
}

function addFormula(reader: Reader, text: string | undefined): void {
  if (text !== undefined && reader.groups.current.destination !== 'ignored') addPiece(reader, text);
}

function addPiece({ groups, paragraphs, texts }: Reader, text: string): void {
  const { destination } = groups.current;
  const shift = shiftOf(groups.current);
  const piece = { text, shifts: shift === undefined ? [] : [shift] };
  if (destination === 'body') paragraphs.append(piece);
  else texts.add(destination, piece);
}
