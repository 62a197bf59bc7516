import { createColumnRanges, type ColumnRanges } from '../tables/column-ranges.js';
import { spanOf } from '../tables/span-cells.js';
import { WHITE } from '../visibility/colors.js';
import { attribute, type MarkupHandler, type Attributes } from '../xml/read-markup.js';
import { readObject, type OdfContext } from './context.js';
import { createParagraphs } from './paragraphs.js';
import { repetitionsOf, type RepeatBudget } from './repeat-budget.js';
import type { StyleLook } from './styles.js';

export interface SheetRow {
  readonly kind: 'row';
  /** From 1. */
  readonly number: number;
  readonly cells: readonly string[];
  readonly isHidden: boolean;
}

/** The parts of a spreadsheet, in the order of the file. Rows belong to the sheet before them. */
export type SheetEvent =
  | { readonly kind: 'sheet'; readonly name: string; readonly isHidden: boolean }
  /** Text in shapes on the sheet. */
  | { readonly kind: 'text'; readonly text: string }
  | SheetRow;

/** More empty columns than this side by side are written as this many. */
const MAX_EMPTY_CELLS = 256;
const HIDDEN_VISIBILITY = new Set(['collapse', 'filter']);
const GROUPS: ReadonlySet<string> = new Set(['table:table-row-group', 'table:table-column-group']);

/** Columns of more styles than this are taken to be ordinary. */
const MAX_COLUMN_STYLES = 256;
/** The colour of a sheet, which is the colour of paper. */
const SHEET_COLOR = WHITE;

interface OpenRow {
  readonly cells: string[];
  /** Texts of cells above that reach over cells of this row, by their places in it. */
  readonly reaching: Map<number, string>;
  /** The number of the column that comes next, from 0. */
  column: number;
  readonly repetitions: number;
  readonly isHidden: boolean;
  /** The style of cells that name none. */
  readonly style: string | undefined;
}

interface OpenCell {
  readonly parts: string[];
  readonly attributes: Attributes;
  readonly look: StyleLook;
  /** True if the file says what the cell shows, be it nothing. */
  hasParagraph: boolean;
  /** True if the cell shows something, be it hidden. */
  hasText: boolean;
}

interface OpenSheet {
  readonly name: string;
  rowsBefore: number;
  columnsBefore: number;
  readonly hiddenColumns: ColumnRanges<true>;
  readonly columnStyles: ColumnRanges<string>;
  readonly reaching: ReachingCells;
  /** The groups of columns or rows that are open: whether each is not displayed. */
  readonly groups: boolean[];
}

interface State {
  events: SheetEvent[];
  sheet: OpenSheet;
  row: OpenRow | undefined;
  cell: OpenCell | undefined;
}

export interface SheetEvents extends MarkupHandler {
  take(): SheetEvent[];
}

/** Turns the XML of a spreadsheet into sheets and rows. Cells are as they are shown. */
export function createSheetEvents(context: OdfContext, budget: RepeatBudget): SheetEvents {
  const state: State = { events: [], sheet: newSheet(''), row: undefined, cell: undefined };
  const paragraphs = createParagraphs({
    styles: context.styles,
    hidden: context.hidden,
    signs: context.signs,
    behind: () => (state.cell && state.cell.look.isConditional !== true ? SHEET_COLOR : undefined),
    outerLook: () => state.cell?.look ?? {},
    onParagraph: ({ text }) => {
      if (state.cell) state.cell.parts.push(text);
      else state.events.push({ kind: 'text', text });
    },
  });
  return {
    open: (name, attributes) => {
      const formula = readObject({ name, attributes }, context, { sheet: state.sheet.name });
      openElement(state, { name, attributes, context });
      paragraphs.open(name, attributes);
      if (formula !== '') paragraphs.addObject(formula);
    },
    close: (name) => {
      paragraphs.close(name);
      // A change that is tracked holds cells, too, which are in no row.
      if (name === 'table:table-cell' || name === 'table:covered-table-cell')
        closeCell(state, { context, budget });
      else if (name === 'table:table-row') closeRow(state, budget);
      else if (GROUPS.has(name)) state.sheet.groups.pop();
    },
    text: (text) => {
      if (state.cell && text.trim() !== '') state.cell.hasText = true;
      paragraphs.text(text);
    },
    take: () => {
      const { events } = state;
      state.events = [];
      return events;
    },
  };
}

const newSheet = (name: string): OpenSheet => ({
  name,
  rowsBefore: 0,
  columnsBefore: 0,
  hiddenColumns: createColumnRanges(),
  columnStyles: createColumnRanges(MAX_COLUMN_STYLES),
  reaching: createReachingCells(),
  groups: [],
});

interface OpenedElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly context: OdfContext;
}

function openElement(state: State, { name, attributes, context }: OpenedElement): void {
  const isHidden =
    HIDDEN_VISIBILITY.has(attribute(attributes, 'table:visibility')) || state.sheet.groups.includes(true);
  if (name === 'table:table' && state.row === undefined) {
    const look = context.styles.look('table', attributes['table:style-name']);
    state.sheet = newSheet(attribute(attributes, 'table:name'));
    state.events.push({ kind: 'sheet', name: state.sheet.name, isHidden: look.isUndisplayed === true });
  } else if (GROUPS.has(name)) state.sheet.groups.push(attributes['table:display'] === 'false');
  else if (name === 'table:table-column') {
    const { sheet } = state;
    const to = sheet.columnsBefore + repetitionsOf(attributes['table:number-columns-repeated']);
    const style = attributes['table:default-cell-style-name'];
    if (style !== undefined) sheet.columnStyles.add(sheet.columnsBefore, to, style);
    if (isHidden) sheet.hiddenColumns.add(sheet.columnsBefore, to, true);
    sheet.columnsBefore = to;
  } else if (name === 'table:table-row') {
    const repetitions = repetitionsOf(attributes['table:number-rows-repeated']);
    const style = attributes['table:default-cell-style-name'];
    state.row = { cells: [], reaching: new Map(), column: 0, repetitions, isHidden, style };
  } else if (state.row && (name === 'table:table-cell' || name === 'table:covered-table-cell'))
    state.cell = openCell(state.sheet, state.row, { attributes, context });
  else if (name === 'text:p' && state.cell) state.cell.hasParagraph = true;
}

function openCell(
  { columnStyles }: OpenSheet,
  { column, style }: OpenRow,
  { attributes, context }: Omit<OpenedElement, 'name'>,
): OpenCell {
  const name = attributes['table:style-name'] ?? style ?? columnStyles.of(column);
  return {
    parts: [],
    attributes,
    look: context.styles.look('table-cell', name),
    hasParagraph: false,
    hasText: false,
  };
}

/** Returns the text that a cell shows. The program that wrote a cell without a paragraph left its text to readers. */
function shownText({ parts, attributes, hasParagraph, hasText }: OpenCell, { hidden }: OdfContext): string {
  const shown = parts.join(' ');
  if (shown !== '' || hasText) return shown;
  const value = attribute(attributes, 'office:value');
  // Formats often leave out zeros, which hides nothing.
  if (!hasParagraph || Number(value) === 0) return hasParagraph ? '' : value;
  return hidden.accepts('format', { text: value }) ? value : '';
}

function closeCell(
  { row, cell, sheet }: State,
  { context, budget }: { context: OdfContext; budget: RepeatBudget },
): void {
  if (!row || !cell) return;
  const repeated = repetitionsOf(cell.attributes['table:number-columns-repeated']);
  const shown = shownText(cell, context);
  const { column } = row;
  row.column += repeated;
  cell.parts.length = 0;
  const isHidden = sheet.hiddenColumns.of(column) === true;
  const text = isHidden && shown !== '' && !context.hidden.accepts('column', { text: shown }) ? '' : shown;
  const times = text === '' ? Math.min(repeated, MAX_EMPTY_CELLS) : budget.take(repeated, text.length);
  sheet.reaching.add(column, cell.attributes, text);
  for (let count = 0; count < times; count += 1) {
    const above = text === '' ? sheet.reaching.textAt(column + count) : '';
    // Counted as a repetition of the cell above.
    if (above !== '' && budget.take(2, above.length) > 1) row.reaching.set(row.cells.length, above);
    row.cells.push(text);
  }
}

function closeRow(state: State, budget: RepeatBudget): void {
  const { row, sheet } = state;
  if (!row) return;
  state.row = undefined;
  state.cell = undefined;
  sheet.reaching.endRow(row.repetitions);
  const hasOwn = row.cells.some((cell) => cell !== '');
  if (hasOwn) for (const [at, text] of row.reaching) row.cells[at] = text;
  while (row.cells.at(-1) === '') row.cells.pop();
  const first = sheet.rowsBefore + 1;
  sheet.rowsBefore += row.repetitions;
  if (row.cells.length === 0) return;
  const length = row.cells.reduce((sum, cell) => sum + cell.length + 3, 0);
  const times = budget.take(row.repetitions, length);
  for (let count = 0; count < times; count += 1)
    state.events.push({ kind: 'row', number: first + count, cells: row.cells, isHidden: row.isHidden });
}

/** A longer text is not repeated in the rows that its cell reaches over. */
const MAX_REPEATED_CHARACTERS = 200;
/** Most cells that reach into one row from above. */
const MAX_AT_ONCE = 200;

/** The texts of cells of a sheet that reach over rows below theirs. */
interface ReachingCells {
  add(column: number, attributes: Attributes, text: string): void;
  /** The text of the cell above that reaches into the next row at a column; empty for none. */
  textAt(column: number): string;
  endRow(repetitions: number): void;
}

function createReachingCells(): ReachingCells {
  let above = new Map<number, { readonly text: string; readonly rowsLeft: number }>();
  const next: typeof above = new Map();
  return {
    add: (column, attributes, text) => {
      const rowsLeft = spanOf(attributes['table:number-rows-spanned']);
      if (rowsLeft > 1 && text.length <= MAX_REPEATED_CHARACTERS && next.size < MAX_AT_ONCE)
        next.set(column, { text, rowsLeft });
    },
    textAt: (column) => above.get(column)?.text ?? '',
    endRow: (repetitions) => {
      const all = [...above, ...next].map(
        ([column, cell]) => [column, withoutRows(cell, repetitions)] as const,
      );
      above = new Map(all.filter(([, { rowsLeft }]) => rowsLeft > 0));
      next.clear();
    },
  };
}

const withoutRows = ({ text, rowsLeft }: { text: string; rowsLeft: number }, count: number) => ({
  text,
  rowsLeft: rowsLeft - count,
});
