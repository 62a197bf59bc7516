import iconv from 'iconv-lite';
import type { Block } from '../../extraction/block.js';
import type { HiddenTextWriter } from '../../extraction/hidden-text.js';
import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import { languageOf } from './charsets.js';
import { destinationOf, type Destination } from './destinations.js';
import { createRtfTables, type RtfTables } from './document-tables.js';
import { changeState, FIRST_STATE, reasonHidden, type GroupState } from './group-state.js';
import { createParagraphs, type RtfParagraphs } from './paragraphs.js';
import type { RtfToken } from './tokens.js';

interface RtfOptions {
  readonly hidden: HiddenTextWriter;
  readonly receipt: ReceiptWriter;
}

export interface RtfReader {
  add(token: RtfToken): void;
  take(): Block[];
  end(): Block[];
}

/** Groups within more than this many are a part of what holds them. */
const DEEPEST_GROUP = 2_000;
/** What control words and symbols stand for. */
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['lbr', '\n'],
  ['~', ' '],
  ['_', '-'],
  ['emdash', '—'],
  ['endash', '–'],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['nestcell', ' '],
  ['nestrow', '\n'],
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
]);
const PARAGRAPH_ENDS = new Set(['par', 'sect', 'page', 'column']);

interface State {
  readonly stack: GroupState[];
  /** How many groups are open beyond the deepest. */
  tooDeep: number;
  group: GroupState;
  /** Whether a group has just begun, and whether readers may skip it. */
  start: 'none' | 'begun' | 'optional';
  /** Bytes of text that are to be decoded together, and their code page. */
  pending: Uint8Array[];
  pendingPage: string;
  /** How many characters are still to be left out, since they repeat one in Unicode. */
  toSkip: number;
  notes: number;
  pictures: number;
  readonly texts: Map<Destination, string[]>;
  readonly pageTexts: Set<string>;
}

interface Reader extends RtfOptions {
  readonly state: State;
  readonly tables: RtfTables;
  readonly paragraphs: RtfParagraphs;
}

/** Makes blocks of tokens. Pictures, fields and what only programs need is left out as it comes. */
export function createRtfReader(options: RtfOptions): RtfReader {
  const paragraphs = createParagraphs();
  const reader: Reader = { ...options, paragraphs, tables: createRtfTables(), state: newState() };
  return {
    add: (token) => {
      switch (token.kind) {
        case 'open':
          openGroup(reader);
          break;
        case 'close':
          closeGroup(reader);
          break;
        case 'control':
          control(reader, token.word, token.parameter);
          break;
        case 'bytes':
          addBytes(reader, token.bytes);
          break;
      }
    },
    take: () => paragraphs.writer.take(),
    end: () => {
      flushBytes(reader);
      paragraphs.end();
      for (const text of reader.state.pageTexts) paragraphs.writer.add({ text });
      const { pictures } = reader.state;
      if (pictures > 0) options.receipt.addGap('skipped', `${String(pictures)} pictures are not read.`);
      return paragraphs.writer.end();
    },
  };
}

const newState = (): State => ({
  stack: [],
  tooDeep: 0,
  group: FIRST_STATE,
  start: 'none',
  pending: [],
  pendingPage: '',
  toSkip: 0,
  notes: 0,
  pictures: 0,
  texts: new Map(),
  pageTexts: new Set(),
});

function openGroup(reader: Reader): void {
  flushBytes(reader);
  const { state } = reader;
  state.toSkip = 0;
  state.start = 'begun';
  if (state.stack.length >= DEEPEST_GROUP) state.tooDeep += 1;
  else state.stack.push(state.group);
}

function closeGroup(reader: Reader): void {
  flushBytes(reader);
  const { state } = reader;
  state.toSkip = 0;
  state.start = 'none';
  if (state.tooDeep > 0) {
    state.tooDeep -= 1;
    return;
  }
  const outer = state.stack.pop();
  if (!outer) return;
  const { destination } = state.group;
  state.group = outer;
  if (outer.destination !== destination) endDestination(reader, destination);
}

/** Puts the text of a group that is for something else to its place. */
function endDestination({ state, paragraphs, receipt }: Reader, destination: Destination): void {
  const text = (state.texts.get(destination) ?? []).join('').trim();
  state.texts.delete(destination);
  if (text === '') return;
  if (destination === 'title') receipt.setTitle(text);
  else if (destination === 'mark') paragraphs.setMark(text);
  else if (destination === 'page') state.pageTexts.add(text);
  else if (destination === 'note' || destination === 'comment') paragraphs.addNote(text);
}

function control(reader: Reader, word: string, parameter: number | undefined): void {
  const { state } = reader;
  if (word === 'u') {
    addUnicode(reader, parameter ?? 0);
    return;
  }
  flushBytes(reader);
  const { start } = state;
  if (word === '*') {
    if (start === 'begun') state.start = 'optional';
    return;
  }
  state.start = 'none';
  const destination = destinationOf(word, start === 'optional');
  if (destination !== undefined) {
    if (word === 'pict' && state.group.destination !== 'ignored') state.pictures += 1;
    if (state.group.destination !== 'ignored' || destination === 'title')
      state.group = { ...state.group, destination };
    return;
  }
  if (state.group.destination === 'ignored') return;
  if (state.toSkip > 0 && CHARACTERS.has(word)) state.toSkip -= 1;
  else applyControl(reader, word, parameter);
}

function applyControl(reader: Reader, word: string, parameter: number | undefined): void {
  const { state, tables, paragraphs, receipt } = reader;
  const { destination } = state.group;
  const number = parameter ?? 0;
  if (destination === 'fonts') tables.font(word, number);
  else if (destination === 'colors') tables.color(word, number);
  else if (destination === 'styles') tables.style(word, number);
  else if (word === 'ansicpg') tables.setCodePage(number);
  else if (word === 'mac') tables.setCodePage(10_000);
  else if (word === 'deff') tables.setDefaultFont(number);
  else if (word === 'deflang') receipt.setLanguage(languageOf(number) ?? '');
  else {
    state.group = changeState(state.group, word, parameter) ?? state.group;
    const character = word === 'chftn' ? noteMark(state) : CHARACTERS.get(word);
    if (character !== undefined) addText(reader, character);
    else if (destination !== 'body') {
      if (PARAGRAPH_ENDS.has(word)) addText(reader, '\n');
    } else if (PARAGRAPH_ENDS.has(word)) paragraphs.endParagraph();
    else if (word === 'cell') paragraphs.endCell();
    else if (word === 'row') paragraphs.table.endRow();
    else {
      paragraphs.table.control(word);
      paragraphs.control(word, parameter, tables.headingOf(number));
    }
  }
}

/** The number of a note, which stands in the text and before the note itself. */
function noteMark(state: State): string {
  if (state.group.destination === 'body') state.notes += 1;
  return `[${String(state.notes)}] `;
}

function addUnicode(reader: Reader, parameter: number): void {
  flushBytes(reader);
  const { state } = reader;
  state.start = 'none';
  const unit = parameter < 0 ? parameter + 65_536 : parameter;
  if (unit > 0 && unit < 65_536) addText(reader, String.fromCharCode(unit));
  state.toSkip = state.group.fallbackLength;
}

function addBytes(reader: Reader, bytes: Uint8Array): void {
  const { state, tables } = reader;
  state.start = 'none';
  const { destination } = state.group;
  if (destination === 'ignored' || destination === 'fonts' || destination === 'styles') return;
  if (destination === 'colors') {
    for (const byte of bytes) if (byte === 0x3b) tables.endColor();
    return;
  }
  const skipped = Math.min(state.toSkip, bytes.length);
  state.toSkip -= skipped;
  if (skipped === bytes.length) return;
  state.pendingPage = tables.codePageOf(state.group.font);
  state.pending.push(bytes.subarray(skipped));
}

/** Characters may consist of several bytes, which are written one by one. */
function flushBytes(reader: Reader): void {
  const { state } = reader;
  if (state.pending.length === 0) return;
  const text = iconv.decode(Buffer.concat(state.pending), state.pendingPage);
  state.pending = [];
  addText(reader, text);
}

function addText({ state, tables, paragraphs, hidden }: Reader, text: string): void {
  const { destination } = state.group;
  if (destination === 'ignored') return;
  const surroundings = {
    isWhite: (color: number): boolean => tables.isWhite(color),
    isOnPage: paragraphs.isOnPage(),
  };
  const kind = reasonHidden(state.group, surroundings);
  if (kind !== undefined && !hidden.accepts(kind, text)) return;
  if (destination === 'body') {
    paragraphs.append(text);
    return;
  }
  const texts = state.texts.get(destination);
  if (texts) texts.push(text);
  else state.texts.set(destination, [text]);
}
