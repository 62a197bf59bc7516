import type { MarkupHandler, Attributes } from '../xml/read-markup.js';
import type { OdfContext } from './context.js';
import { createParagraphs } from './paragraphs.js';
import { repetitionsOf, type RepeatBudget } from './repeat-budget.js';

export interface SheetRow {
  readonly kind: 'row';
  /** From 1. */
  readonly number: number;
  readonly cells: readonly string[];
  readonly isHidden: boolean;
}

/** What a spreadsheet consists of, in the order of the file. Rows belong to the sheet before them. */
export type SheetEvent =
  | { readonly kind: 'sheet'; readonly name: string; readonly isHidden: boolean }
  /** Text in shapes on the sheet. */
  | { readonly kind: 'text'; readonly text: string }
  | SheetRow;

/** More empty columns than this side by side are written as this many. */
const MOST_EMPTY_CELLS = 256;
const HIDDEN_VISIBILITY = new Set(['collapse', 'filter']);

interface OpenRow {
  readonly cells: string[];
  /** The number of the column that comes next, from 0. */
  column: number;
  readonly repetitions: number;
  readonly isHidden: boolean;
}

interface OpenCell {
  readonly parts: string[];
  readonly attributes: Attributes;
}

interface OpenSheet {
  rowsBefore: number;
  columnsBefore: number;
  readonly hiddenColumns: { readonly from: number; readonly to: number }[];
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
  const state: State = { events: [], sheet: newSheet(), row: undefined, cell: undefined };
  const paragraphs = createParagraphs({
    styles: context.styles,
    hidden: context.hidden,
    isOnWhite: () => false,
    onParagraph: ({ text }) => {
      if (state.cell) state.cell.parts.push(text);
      else state.events.push({ kind: 'text', text });
    },
  });
  return {
    open: (name, attributes) => {
      openElement(state, { name, attributes, context });
      paragraphs.open(name, attributes);
    },
    close: (name) => {
      paragraphs.close(name);
      // A change that is tracked holds cells, too, which are in no row.
      if (name === 'table:table-cell' || name === 'table:covered-table-cell')
        closeCell(state, { context, budget });
      else if (name === 'table:table-row') closeRow(state, budget);
    },
    text: (text) => paragraphs.text(text),
    take: () => {
      const { events } = state;
      state.events = [];
      return events;
    },
  };
}

const newSheet = (): OpenSheet => ({ rowsBefore: 0, columnsBefore: 0, hiddenColumns: [] });

interface OpenedElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly context: OdfContext;
}

function openElement(state: State, { name, attributes, context }: OpenedElement): void {
  const isHidden = HIDDEN_VISIBILITY.has(attributes['table:visibility'] ?? '');
  if (name === 'table:table' && state.row === undefined) {
    const look = context.styles.look('table', attributes['table:style-name']);
    state.sheet = newSheet();
    const title = attributes['table:name'] ?? '';
    state.events.push({ kind: 'sheet', name: title, isHidden: look.isUndisplayed === true });
  } else if (name === 'table:table-column') {
    const { sheet } = state;
    const to = sheet.columnsBefore + repetitionsOf(attributes['table:number-columns-repeated']);
    if (isHidden) sheet.hiddenColumns.push({ from: sheet.columnsBefore, to });
    sheet.columnsBefore = to;
  } else if (name === 'table:table-row') {
    const repetitions = repetitionsOf(attributes['table:number-rows-repeated']);
    state.row = { cells: [], column: 0, repetitions, isHidden };
  } else if (state.row && (name === 'table:table-cell' || name === 'table:covered-table-cell'))
    state.cell = { parts: [], attributes };
}

function closeCell(
  { row, cell, sheet }: State,
  { context, budget }: { context: OdfContext; budget: RepeatBudget },
): void {
  if (!row || !cell) return;
  const repeated = repetitionsOf(cell.attributes['table:number-columns-repeated']);
  const shown = cell.parts.join(' ') || (cell.attributes['office:value'] ?? '');
  const { column } = row;
  row.column += repeated;
  cell.parts.length = 0;
  const isHidden = sheet.hiddenColumns.some(({ from, to }) => column >= from && column < to);
  const text = isHidden && shown !== '' && !context.hidden.accepts('hidden column', shown) ? '' : shown;
  const times = text === '' ? Math.min(repeated, MOST_EMPTY_CELLS) : budget.take(repeated, text.length);
  for (let count = 0; count < times; count += 1) row.cells.push(text);
}

function closeRow(state: State, budget: RepeatBudget): void {
  const { row, sheet } = state;
  if (!row) return;
  state.row = undefined;
  state.cell = undefined;
  while (row.cells.at(-1) === '') row.cells.pop();
  const first = sheet.rowsBefore + 1;
  sheet.rowsBefore += row.repetitions;
  if (row.cells.length === 0) return;
  const length = row.cells.reduce((sum, cell) => sum + cell.length + 3, 0);
  const times = budget.take(row.repetitions, length);
  for (let count = 0; count < times; count += 1)
    state.events.push({ kind: 'row', number: first + count, cells: row.cells, isHidden: row.isHidden });
}
