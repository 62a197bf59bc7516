import { createBlockWriter, type BlockWriter } from '../../blocks/block-writer.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import { gapBeside } from '../forms/controls.js';
import { bulletMark } from '../signs/sign-reader.js';
import { documentTable, type DocumentTable } from '../tables/document-table.js';
import type { SpanningCell } from '../tables/span-cells.js';
import { at } from '../../../shared/at.js';
import { numberOrZero } from './tokens.js';

/** Makes blocks of the paragraphs, rows and notes of a body. */
export interface Paragraphs {
  readonly writer: BlockWriter;
  readonly table: Table;
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

/** @param admits is asked for a text that stands in a cell which another covers, and is not shown */
export function createParagraphs(admits: (covered: string) => boolean): Paragraphs {
  const writer = createBlockWriter();
  const table = createTable(admits);
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
      const gap = gapBeside(state.pieces.at(-1), piece.text);
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
  else if (word === 'ilvl') properties.level = Math.max(0, numberOrZero(parameter));
}

/** Collects rows of a table. RTF has no tables, only rows that follow each other. */
interface Table {
  /** Heeds a control word about the row and its cells. */
  control(word: string, number: number): void;
  endCell(text: string): void;
  endRow(): void;
  /** The rows until now, which begins a new table; undefined for none. */
  take(): DocumentTable | undefined;
}

interface CellDefinition {
  readonly isMergedUp: boolean;
  /** True if the cell before covers it. */
  readonly isMergedLeft: boolean;
  /** The right end of the cell on the page, in twips. */
  readonly right: number;
}

interface Row {
  readonly texts: readonly string[];
  readonly definitions: readonly CellDefinition[];
}

/** A row has no more cells than this. The last one has the texts of further ones, too. */
const MAX_CELLS = 1_000;
/** Edges that are less than a point and a half apart, in twips, are the same one. */
const SAME_EDGE = 30;

function createTable(admits: (covered: string) => boolean): Table {
  let rows: Row[] = [];
  let headerRows = 0;
  let texts: string[] = [];
  let definitions: CellDefinition[] = [];
  let [isMergedUp, isMergedLeft, isHeader] = [false, false, false];
  const endRow = (): void => {
    if (texts.length === 0) return;
    if (isHeader && headerRows === rows.length) headerRows += 1;
    rows.push({ texts, definitions });
    texts = [];
  };
  return {
    control: (word, right) => {
      if (word === 'trowd') {
        definitions = [];
        isHeader = false;
      } else if (word === 'cellx' && definitions.length < MAX_CELLS)
        definitions.push({ isMergedUp, isMergedLeft, right });
      isHeader ||= word === 'trhdr';
      if (word === 'clvmrg') isMergedUp = true;
      else if (word === 'clmrg') isMergedLeft = true;
      else if (word === 'cellx' || word === 'trowd') [isMergedUp, isMergedLeft] = [false, false];
    },
    endCell: (text) => {
      const further = texts.length < MAX_CELLS ? '' : `${texts.pop() ?? ''} `;
      texts.push(further + text.trim());
    },
    endRow,
    take: () => {
      endRow();
      if (rows.length === 0) return undefined;
      const table = { rows: layOut(rows, admits), headerRows };
      rows = [];
      headerRows = 0;
      return table;
    },
  };
}

/** Gives cells the columns that they reach over, and repeats cells that reach down from the row above. */
function layOut(rows: readonly Row[], admits: (covered: string) => boolean): SpanningCell[][] {
  const edges = sharedEdges(rows);
  let above = new Map<number, SpanningCell>();
  return rows.map((row) => {
    let column = 0;
    const begins = new Map<number, SpanningCell>();
    for (const [index, text] of row.texts.entries()) {
      const { isMergedUp = false, isMergedLeft = false, right = 0 } = row.definitions[index] ?? {};
      const columns = edges === undefined ? 1 : Math.max(1, edgeAt(edges, right) + 1 - column);
      const over = isMergedUp ? above.get(column) : undefined;
      const isCovered = over !== undefined || (isMergedLeft && index > 0);
      const isRead = text !== '' && (!isCovered || admits(text));
      begins.set(column, (isRead ? undefined : over) ?? { text: isRead ? text : '', columns, rows: 1 });
      column += columns;
    }
    above = begins;
    return [...begins.values()];
  });
}

/**
 * Returns the edges of the row with the most cells, where the edges of all rows are among them: a cell that ends at a later
 * edge than its own reaches over several columns. Undefined where rows are divided each in its own way.
 */
function sharedEdges(rows: readonly Row[]): readonly number[] | undefined {
  const [first] = rows;
  if (!first) return undefined;
  const widest = rows.reduce((most, row) => (row.texts.length > most.texts.length ? row : most), first);
  const edges = widest.definitions.slice(0, widest.texts.length).map(({ right }) => right);
  const rises = edges.every((edge, index) => edge > (edges[index - 1] ?? -Infinity) + SAME_EDGE);
  const isShared = rows.every(
    ({ texts, definitions }) =>
      definitions.length >= texts.length &&
      definitions
        .slice(0, texts.length)
        .every(({ right }) => Math.abs((edges[edgeAt(edges, right)] ?? Infinity) - right) <= SAME_EDGE),
  );
  return rises && isShared ? edges : undefined;
}

/** The first edge that is not left of a place. */
function edgeAt(edges: readonly number[], place: number): number {
  let [low, high] = [0, edges.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (at(edges, middle) + SAME_EDGE < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
