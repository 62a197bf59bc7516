import { createBlockWriter, type BlockWriter } from '../../blocks/block-writer.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import { gapBeside } from '../forms/controls.js';
import { bulletMark } from '../signs/sign-reader.js';
import { documentTable } from '../tables/document-table.js';
import { createTable, type RtfTable } from './tables.js';

/** Makes blocks of the paragraphs, rows and notes of a body. */
export interface RtfParagraphs {
  readonly writer: BlockWriter;
  readonly table: RtfTable;
  append(piece: Piece): void;
  /** Heeds a control word about the paragraph. */
  control(word: string, parameter: number | undefined, styleHeading?: number): void;
  /** The mark of an item of a list, such as `1.` or a bullet. */
  setMark(mark: string): void;
  /** Adds a note that follows the paragraph. */
  addNote(text: string): void;
  endParagraph(): void;
  endCell(): void;
  /** Tells whether the paragraph stands on the page itself, without a shade behind it. */
  isOnPage(): boolean;
  end(): void;
}

interface Properties {
  heading: number | undefined;
  isInTable: boolean;
  isShaded: boolean;
  level: number;
  mark: string;
}

const ORDINARY: Readonly<Properties> = {
  heading: undefined,
  isInTable: false,
  isShaded: false,
  level: 0,
  mark: '',
};
const MAX_INDENT = 8;

interface State {
  properties: Properties;
  pieces: Piece[];
  cell: string[];
  notes: string[];
}

export function createParagraphs(): RtfParagraphs {
  const writer = createBlockWriter();
  const table = createTable();
  const state: State = { properties: { ...ORDINARY }, pieces: [], cell: [], notes: [] };
  const endTable = (): void => {
    const rows = table.take();
    if (rows) writer.addFinished(documentTable(rows));
  };
  const endParagraph = (): void => {
    const text = takeText(state);
    if (state.properties.isInTable) {
      state.cell.push(text);
      return;
    }
    if (text !== '' || state.notes.length > 0) endTable();
    addParagraph(writer, state, text);
    for (const note of state.notes.splice(0)) writer.add({ text: note });
  };
  return {
    writer,
    table,
    append: (piece) => {
      const gap = gapBeside(state.pieces.at(-1)?.text ?? '', piece.text);
      state.pieces.push({ text: gap, shifts: [] }, piece);
    },
    control: (word, parameter, styleHeading) => changeProperties(state, { word, parameter, styleHeading }),
    setMark: (mark) => void (state.properties.mark = shownMark(mark)),
    addNote: (text) => void state.notes.push(text),
    endParagraph,
    endCell: () => {
      table.endCell([...state.cell.splice(0), takeText(state)].join('\n'));
    },
    isOnPage: () => !state.properties.isInTable && !state.properties.isShaded,
    end: () => {
      state.properties.isInTable = false;
      endParagraph();
      endTable();
    },
  };
}

/** Numbers stay as they are; bullets are shown in one form. */
const shownMark = (mark: string): string =>
  /[\p{L}\p{N}]/u.test(mark) ? mark.trim() : bulletMark(mark).trim();

function takeText(state: State): string {
  const text = writePieces(state.pieces).trim();
  state.pieces = [];
  return text;
}

function addParagraph(writer: BlockWriter, { properties }: State, text: string): void {
  const { heading, mark, level } = properties;
  properties.mark = '';
  const isItem = mark !== '' && heading === undefined;
  const indent = '  '.repeat(Math.min(level, MAX_INDENT));
  writer.add(
    {
      text: isItem && text !== '' ? `${indent}${mark} ${text}` : text,
      ...(heading === undefined ? {} : { heading }),
    },
    { isLine: isItem },
  );
}

interface Change {
  readonly word: string;
  readonly parameter: number | undefined;
  readonly styleHeading: number | undefined;
}

function changeProperties(state: State, { word, parameter, styleHeading }: Change): void {
  const { properties } = state;
  if (word === 'pard') state.properties = { ...ORDINARY, mark: properties.mark };
  else if (word === 'intbl') properties.isInTable = true;
  else if (word === 's') properties.heading = styleHeading;
  else if (word === 'outlinelevel')
    properties.heading = parameter !== undefined && parameter < 9 ? parameter + 1 : undefined;
  else if (word === 'cbpat' || word === 'shading') properties.isShaded = parameter !== 0;
  else if (word === 'ilvl') properties.level = Math.max(0, parameter ?? 0);
}
